import { createWorkload } from '../../manifests.ts';
import { formatOutside, listBadTargets } from './bad-contexts.ts';
import { lookAtSpec } from './look.ts';
import type { KubernetesOperationSpec } from './spec.ts';

const names = { operation: 'resumeRolloutManifest', code: 'resumeRolloutKubernetesManifest' };

/** A Deployment that is paused goes on. */
export const resumeRolloutManifest: KubernetesOperationSpec = {
  world: () => [
    createWorkload('Deployment', 'web', { replicas: 0 }),
    { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' }, spec: { paused: true } },
  ],
  context: ({ place }) => ({ manifestName: 'deployment web', location: place }),
  invalid: listBadTargets(names),
  outside: formatOutside(names),
  calls: { GET: 1, PATCH: 1 },
  history: [
    'Resuming the rollout of deployment web in namespace PLACE',
    'Resumed the rollout of deployment web in namespace PLACE',
  ],
  secrets: [],
  look: lookAtSpec('deployments/web', 'paused'),
  effect: () => ({ paused: null, generation: 3 }),
};
