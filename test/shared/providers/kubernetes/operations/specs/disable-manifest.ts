import { formatOutside } from './bad-contexts.ts';
import type { KubernetesOperationSpec } from './spec.ts';
import { createReplicas, listBadTraffic, lookAtLabels } from './traffic.ts';

const names = { operation: 'disableManifest', code: 'disableKubernetesManifest' };
const own = { app: 'web' };

/** A ReplicaSet and its two pods lose the labels that their Service selects. */
export const disableManifest: KubernetesOperationSpec = {
  world: () => createReplicas({ serves: 'web' }),
  context: ({ place }) => ({ manifestName: 'replicaSet web', location: place }),
  invalid: listBadTraffic(names),
  outside: formatOutside(names),
  calls: { GET: 3, PATCH: 3 },
  history: [
    'Disabling replicaSet web in namespace PLACE',
    'Load balancers of replicaSet web in namespace PLACE: service web',
    'Labelled 2 pods of replicaSet web in namespace PLACE',
    'Disabled replicaSet web in namespace PLACE',
  ],
  secrets: [],
  look: lookAtLabels,
  effect: () => [own, own, own],
};
