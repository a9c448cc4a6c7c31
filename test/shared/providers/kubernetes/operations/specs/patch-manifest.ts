import { getPath } from '#core/json.ts';
import { refuseBy } from '#test/support/conformance/operation-spec.ts';
import { createSecret } from '../../manifests.ts';
import { formatOutside, listBadTargets } from './bad-contexts.ts';
import type { KubernetesOperationSpec } from './spec.ts';

const names = { operation: 'patchManifest', code: 'patchKubernetesManifest' };
const byCode = refuseBy(`${names.code}.${names.code}`);
const byField = refuseBy(names.operation, ': ');

/** A Secret gets another value. */
export const patchManifest: KubernetesOperationSpec = {
  world: ({ plant }) => [createSecret('keys', plant('live'))],
  context: ({ place, plant }) => ({
    manifestName: 'secret keys',
    location: place,
    patchBody: { stringData: { more: plant('patch') } },
    options: { mergeStrategy: 'merge' },
  }),
  invalid: [
    ...listBadTargets(names),
    byCode({ patchBody: null }, 'patchBody'),
    byCode({ options: null }, 'options'),
    byCode({ options: {} }, 'options.mergeStrategy'),
    byField(
      { options: { mergeStrategy: 'planted' } },
      'options.mergeStrategy',
      'expected one of strategic, json, merge, got a string (not shown)',
    ),
    byField({ patchBody: [] }, 'patchBody', 'expected an object for the strategy merge, got a list'),
    byField(
      { patchBody: [{ op: 'move', path: '/a' }], options: { mergeStrategy: 'json' } },
      'patchBody[0].op',
      'expected one of add, remove, replace, got a string (not shown)',
    ),
  ],
  outside: formatOutside(names),
  calls: { PATCH: 1 },
  history: [
    'Patching secret keys in namespace PLACE',
    'Bound artifacts in the patch: none',
    'Patched secret keys in namespace PLACE',
  ],
  result: { manifestNamesByNamespace: { PLACE: ['secret keys'] } },
  secrets: ['live', 'patch'],
  look: async ({ findLive }) => getPath(await findLive('secrets/keys'), 'data') ?? null,
  effect: ({ plant }) => ({ text: toBase64(plant('live')), more: toBase64(plant('patch')) }),
};

function toBase64(text: string): string {
  return Buffer.from(text).toString('base64');
}
