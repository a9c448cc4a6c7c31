import type { TestProject } from 'vitest/node';
import type { Deployment } from '../support/deployed-system.ts';
import type { ClusterOffer } from '../support/global-cluster.ts';

/** What the runner tells the tests' processes. */
export interface TestSurroundings {
  readonly deployment: Deployment;
  readonly clusterOffer: ClusterOffer;
}

/** Environment variable with the surroundings as JSON. */
export const surroundingsVariable = 'BUSDRIVER_TEST_SURROUNDINGS';

/**
 * Tells tests where the stacks are deployed, and where the cluster is.
 *
 * @throws Error unless `npm run test:deploy` runs them
 */
export function setup(project: TestProject): void {
  const text = process.env[surroundingsVariable];
  if (text === undefined) throw new Error('These tests are run by: npm run test:deploy');
  const { deployment, clusterOffer }: TestSurroundings = JSON.parse(text);
  project.provide('deployment', deployment);
  project.provide('clusterOffer', clusterOffer);
}
