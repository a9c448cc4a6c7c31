import type { TestProject } from 'vitest/node';
import type { ClusterOffer } from '#test/support/cluster/global-cluster.ts';
import type { Deployment } from '#test/support/system/deployed-system.ts';

/** What the runner tells the tests' processes. */
export interface TestEnvironment {
  readonly deployment: Deployment;
  readonly clusterOffer: ClusterOffer;
}

/** Environment variable with the environment as JSON. */
export const environmentVariable = 'BUSDRIVER_TEST_ENVIRONMENT';

/**
 * Tells tests where the stacks are deployed, and where the cluster is.
 *
 * @throws Error unless `npm run test:deploy` runs them
 */
export function setup(project: TestProject): void {
  const text = process.env[environmentVariable];
  if (text === undefined) throw new Error('These tests are run by: npm run test:deploy');
  const { deployment, clusterOffer }: TestEnvironment = JSON.parse(text);
  project.provide('deployment', deployment);
  project.provide('clusterOffer', clusterOffer);
}
