import { refuseBy, specAccounts } from '#test/support/conformance/operation-spec.ts';
import { createSecret } from '../../manifests.ts';
import { formatOutside, listBadAccounts } from './bad-contexts.ts';
import type { KubernetesOperationSpec } from './spec.ts';

const names = { operation: 'deleteManifest', code: 'deleteKubernetesManifest' };
const byCode = refuseBy(`${names.code}.${names.code}`);
const byField = refuseBy(names.operation, ': ');
const labelSelectors = { selectors: [{ kind: 'EQUALS', key: 'tier', values: ['old'] }] };
const selected = { manifestName: null, kinds: ['secret'], labelSelectors };
const labels = { tier: 'old' };

/** Of three Secrets the two are deleted that the labels select. */
export const deleteManifest: KubernetesOperationSpec = {
  world: ({ plant }) => [
    createSecret('a', plant('a'), { labels }),
    createSecret('b', plant('b'), { labels }),
    createSecret('c', plant('c')),
  ],
  context: ({ place }) => ({ location: place, ...selected }),
  invalid: [
    ...listBadAccounts(names),
    byCode({ kinds: [] }, 'kinds'),
    byCode({ labelSelectors: null }, 'labelSelectors'),
    byCode({ labelSelectors: { selectors: [{ kind: 'ANY' }] } }, 'labelSelectors'),
    {
      change: { account: specAccounts.elsewhere, manifestName: 'secret a' },
      error: formatOutside(names),
      names: 'PLACE',
    },
    byField({ kinds: ['a/b'] }, 'kinds[0]', 'expected a kind of letters, digits, dots and dashes'),
  ],
  outside: formatOutside(names),
  calls: { GET: 1, DELETE: 2 },
  history: [
    'Beginning to delete objects of the kinds secret in namespace PLACE with the labels tier = old',
    'Deleting secret a in namespace PLACE',
    'Deleting secret b in namespace PLACE',
    'Deleted 2 objects',
  ],
  result: { manifestNamesByNamespace: { PLACE: ['secret a', 'secret b'] } },
  secrets: ['a', 'b', 'c'],
  look: ({ listNames }) => listNames('secrets'),
  effect: () => ['c'],
};
