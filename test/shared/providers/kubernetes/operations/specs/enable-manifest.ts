import { formatOutside } from './bad-contexts.ts';
import type { KubernetesOperationSpec } from './spec.ts';
import { createReplicas, listBadTraffic, lookAtLabels } from './traffic.ts';

const names = { operation: 'enableManifest', code: 'enableKubernetesManifest' };
const serving = { app: 'web', serves: 'web' };

/** A ReplicaSet and its two pods get the labels that their Service selects. */
export const enableManifest: KubernetesOperationSpec = {
  world: () => createReplicas({}),
  context: ({ place }) => ({ manifestName: 'replicaSet web', location: place }),
  invalid: listBadTraffic(names),
  outside: formatOutside(names),
  calls: { GET: 3, PATCH: 3 },
  history: [
    'Enabling replicaSet web in namespace PLACE',
    'Load balancers of replicaSet web in namespace PLACE: service web',
    'Labelled 2 pods of replicaSet web in namespace PLACE',
    'Enabled replicaSet web in namespace PLACE',
  ],
  secrets: [],
  look: lookAtLabels,
  effect: () => [serving, serving, serving],
};
