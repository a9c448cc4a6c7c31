import { createWorkload } from '../../manifests.ts';
import { formatOutside, listBadAccounts } from './bad-contexts.ts';
import { lookAtSpec } from './look.ts';
import type { KubernetesOperationSpec } from './spec.ts';

/** Clouddriver's validator of this operation speaks as that of the deploy does. */
const names = { operation: 'resizeServerGroup', code: 'deployKubernetesManifest' };
const code = `${names.code}.${names.code}`;

/** A Deployment without pods gets one. */
export const resizeServerGroup: KubernetesOperationSpec = {
  world: () => [createWorkload('Deployment', 'web', { replicas: 0 })],
  context: ({ place }) => ({ serverGroupName: 'deployment web', region: place, capacity: { desired: 1 } }),
  invalid: [
    ...listBadAccounts(names),
    { change: { serverGroupName: null }, error: `${code}.serverGroupName.empty`, names: 'serverGroupName' },
    { change: { serverGroupName: '' }, error: `${code}.serverGroupName.empty`, names: 'serverGroupName' },
    {
      change: { serverGroupName: 'web' },
      error: "'web' is not an object's name of the form 'kind name', as in 'deployment web'",
      names: "'web'",
    },
    { change: { capacity: null }, error: `${code}.capacity.empty`, names: 'capacity' },
    { change: { capacity: { min: 1 } }, error: `${code}.capacity.desired.empty`, names: 'capacity.desired' },
    {
      change: { capacity: { desired: -2 } },
      error: 'resizeServerGroup: capacity.desired: expected a whole number of at least 0, got -2',
      names: 'capacity.desired',
    },
    {
      change: { region: ['planted'] },
      error: 'resizeServerGroup: region: expected a string, got a list',
      names: 'region',
    },
  ],
  outside: formatOutside(names),
  calls: { PATCH: 1 },
  history: ['Resizing deployment web in namespace PLACE to 1 replicas'],
  secrets: [],
  look: lookAtSpec('deployments/web', 'replicas'),
  effect: () => ({ replicas: 1, generation: 2 }),
};
