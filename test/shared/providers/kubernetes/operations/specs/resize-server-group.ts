import { refuseBy } from '#test/support/conformance/operation-spec.ts';
import { createWorkload } from '../../manifests.ts';
import { formatOutside, listBadAccounts, noName } from './bad-contexts.ts';
import { lookAtSpec } from './look.ts';
import type { KubernetesOperationSpec } from './spec.ts';

/** Clouddriver's validator of this operation speaks as that of the deploy does. */
const names = { operation: 'resizeServerGroup', code: 'deployKubernetesManifest' };
const byCode = refuseBy(`${names.code}.${names.code}`);
const byField = refuseBy(names.operation, ': ');

/** A Deployment without pods gets one. */
export const resizeServerGroup: KubernetesOperationSpec = {
  world: () => [createWorkload('Deployment', 'web', { replicas: 0 })],
  context: ({ place }) => ({ serverGroupName: 'deployment web', region: place, capacity: { desired: 1 } }),
  invalid: [
    ...listBadAccounts(names),
    byCode({ serverGroupName: null }, 'serverGroupName'),
    byCode({ serverGroupName: '' }, 'serverGroupName'),
    noName({ serverGroupName: 'web' }, 'web'),
    byCode({ capacity: null }, 'capacity'),
    byCode({ capacity: { min: 1 } }, 'capacity.desired'),
    byField(
      { capacity: { desired: -2 } },
      'capacity.desired',
      'expected a whole number of at least 0, got -2',
    ),
    byField({ region: ['planted'] }, 'region', 'expected a string, got a list'),
  ],
  outside: formatOutside(names),
  calls: { PATCH: 1 },
  history: ['Resizing deployment web in namespace PLACE to 1 replicas'],
  secrets: [],
  look: lookAtSpec('deployments/web', 'replicas'),
  effect: () => ({ replicas: 1, generation: 2 }),
};
