import { createWorkload } from '../../manifests.ts';
import { formatOutside, listBadTargets } from './bad-contexts.ts';
import { lookAtTemplate } from './look.ts';
import type { KubernetesOperationSpec } from './spec.ts';

const names = { operation: 'rollingRestartManifest', code: 'rollingRestartKubernetesManifest' };

/** The pod template of a Deployment gets the time of the restart. */
export const rollingRestartManifest: KubernetesOperationSpec = {
  world: () => [createWorkload('Deployment', 'web', { replicas: 0 })],
  context: ({ place }) => ({ manifestName: 'deployment web', location: place }),
  invalid: [
    ...listBadTargets(names),
    {
      change: { manifestName: 'configMap web' },
      error: 'configMap web: the kind configMap does not support rollingRestart',
      names: 'configMap web',
    },
  ],
  outside: formatOutside(names),
  calls: { GET: 1, PATCH: 1 },
  history: ['Restarting deployment web in namespace PLACE', 'Restarted deployment web in namespace PLACE'],
  secrets: [],
  varies: [[/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, 'TIME']],
  look: lookAtTemplate,
  effect: () => ({ image: 'registry.test/web:1', restartedAt: 'TIME', generation: 2 }),
};
