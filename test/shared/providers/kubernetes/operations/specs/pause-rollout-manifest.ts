import { createWorkload } from '../../manifests.ts';
import { formatOutside, listBadTargets } from './bad-contexts.ts';
import { lookAtSpec } from './look.ts';
import type { KubernetesOperationSpec } from './spec.ts';

const names = { operation: 'pauseRolloutManifest', code: 'pauseRolloutKubernetesManifest' };

/** A Deployment that is rolled out is paused. */
export const pauseRolloutManifest: KubernetesOperationSpec = {
  world: () => [createWorkload('Deployment', 'web', { replicas: 0 })],
  context: ({ place }) => ({ manifestName: 'deployment web', location: place }),
  invalid: listBadTargets(names),
  outside: formatOutside(names),
  calls: { GET: 1, PATCH: 1 },
  history: [
    'Pausing the rollout of deployment web in namespace PLACE',
    'Paused the rollout of deployment web in namespace PLACE',
  ],
  secrets: [],
  look: lookAtSpec('deployments/web', 'paused'),
  effect: () => ({ paused: true, generation: 2 }),
};
