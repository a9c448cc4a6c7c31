import { InvalidInputError } from '#core/errors.ts';
import { asJsonArray, isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import { readFullName } from '../manifest/identity.ts';
import type { JsonPatchOperation } from '../manifest/json-patch.ts';
import { findMaskedKeys, secretMask } from '../manifest/sensitive.ts';

/** The most keys of one manifest that a refusal names; it also says how many more there are. */
export const maskedKeysToldMax = 20;

const advice =
  'which stands for a value that was not shown: load the Secret with WRITE on the account, or leave the key out';

/** The parts of a patch that matter for the mask. */
export interface MaskablePatch {
  /** Full name of the patched object, for errors: `secret app-credentials`. */
  readonly fullName: string;
  /** Whether the object is a Secret. */
  readonly secret: boolean;
  /** A merge patch of either kind, or the operations of a JSON patch. */
  readonly body: JsonObject | readonly JsonPatchOperation[];
}

/**
 * Refuses a manifest that was read without its Secret's values, so that the mask never overwrites one. Secrets in a `List` and in
 * annotations count, too.
 *
 * @throws InvalidInputError naming the manifest and the keys that hold the mask
 */
export function checkManifestUnmasked(manifest: JsonObject): void {
  checkKeys(readFullName(manifest), findMaskedKeys(manifest));
  const { kind } = manifest;
  if (typeof kind !== 'string' || !/list$/i.test(kind)) return;
  for (const item of asJsonArray(manifest['items'])) {
    if (isJsonObject(item)) checkKeys(readFullName(item), findMaskedKeys(item));
  }
}

/**
 * Refuses a patch that would write the mask into a Secret.
 *
 * @throws InvalidInputError naming the object and the keys that hold the mask
 */
export function checkPatchUnmasked({ fullName, secret, body }: MaskablePatch): void {
  const changes = Array.isArray(body) ? body.map(toChange) : [body as JsonObject];
  checkKeys(fullName, [...new Set(changes.flatMap((change) => findMaskedKeys(change, secret)))]);
}

/** What an operation sets, as an object with nothing else: `/data/a` as `{data: {a: …}}`. */
function toChange({ path, value = null }: JsonPatchOperation): JsonObject {
  // No mask lies deeper than an annotation; what is beyond its key is not part of a Secret.
  const steps = path
    .split('/', 5)
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  const change = steps.reduceRight<JsonValue>((inner, step) => ({ [step]: inner }), value);
  return isJsonObject(change) ? change : {};
}

function checkKeys(fullName: string, keys: readonly string[]): void {
  if (keys.length === 0) return;
  const told = keys.slice(0, maskedKeysToldMax).join(', ');
  const more = keys.length - maskedKeysToldMax;
  const [hold, rest] = [keys.length === 1 ? 'holds' : 'hold', more > 0 ? ` and ${more} more` : ''];
  throw new InvalidInputError(`${fullName}: ${told}${rest} ${hold} the mask '${secretMask}', ${advice}`);
}
