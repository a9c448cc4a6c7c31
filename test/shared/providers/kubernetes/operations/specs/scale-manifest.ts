import { refuseBy } from '#test/support/conformance/operation-spec.ts';
import { createWorkload } from '../../manifests.ts';
import { formatOutside, listBadTargets } from './bad-contexts.ts';
import { lookAtSpec } from './look.ts';
import type { KubernetesOperationSpec } from './spec.ts';

const names = { operation: 'scaleManifest', code: 'scaleKubernetesManifest' };
const byField = refuseBy(names.operation, ': ');

/** A Deployment without pods gets one. */
export const scaleManifest: KubernetesOperationSpec = {
  world: () => [createWorkload('Deployment', 'web', { replicas: 0 })],
  context: ({ place }) => ({ manifestName: 'deployment web', location: place, replicas: 1 }),
  invalid: [
    ...listBadTargets(names),
    byField({ replicas: -1 }, 'replicas', 'expected a whole number of at least 0, got -1'),
    {
      change: { manifestName: 'daemonSet web' },
      error: 'daemonSet web: the kind daemonSet does not support scale',
      names: 'daemonSet web',
    },
    {
      change: { manifestName: 'crontab.stable.example.com a' },
      error: 'crontab.stable.example.com a: the kind crontab.stable.example.com does not support scale',
      names: 'crontab.stable.example.com a',
    },
  ],
  outside: formatOutside(names),
  calls: { PATCH: 1 },
  history: [
    'Scaling deployment web in namespace PLACE to 1 replicas',
    'Scaled deployment web in namespace PLACE',
  ],
  secrets: [],
  look: lookAtSpec('deployments/web', 'replicas'),
  effect: () => ({ replicas: 1, generation: 2 }),
};
