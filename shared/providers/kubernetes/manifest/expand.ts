import { asString, isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import type { Manifest } from '../api/manifest.ts';
import { changeObject } from './edit.ts';

/** An object that was sent, by itself or in a list. */
export interface ListedObject {
  /** Its path in what was sent. */
  readonly path: readonly (string | number)[];
  readonly value: JsonValue;
}

/**
 * The objects in a sent object, as kubectl expands it: the items of a `List` or of another kind with `items` that ends in `List`, such as
 * `RoleList`; otherwise the object itself. Null items are dropped, a list in a list stays. Items that name no kind get it from a list of
 * one kind, as the API server returns them.
 */
export function listObjects(object: JsonObject): ListedObject[] {
  const items = findItems(object);
  if (items === undefined) return [{ path: [], value: object }];
  return items
    .map((item, index) => ({ path: ['items', index], value: withKindOf(object, item) }))
    .filter(({ value }) => value !== null);
}

function findItems(object: JsonObject): readonly JsonValue[] | undefined {
  const kind = asString(object['kind']) ?? '';
  if (Array.isArray(object['items']) && /list$/i.test(kind)) return object['items'];
  return kind.toLowerCase() === 'list' ? [] : undefined;
}

function withKindOf(list: JsonObject, item: JsonValue): JsonValue {
  if (!isJsonObject(item) || item['kind'] || item['apiVersion']) return item;
  const kind = (asString(list['kind']) ?? '').slice(0, -'List'.length);
  return kind === '' ? item : { ...item, apiVersion: list['apiVersion'] ?? null, kind };
}

/**
 * The manifests with `namespace` in place of the one they name, except cluster-scoped ones. A blank namespace changes nothing.
 *
 * @param isNamespaced decides for a manifest; ask the cluster about kinds that the registry does not know.
 */
export function overrideNamespace(
  manifests: readonly Manifest[],
  namespace: string,
  isNamespaced: (manifest: Manifest) => boolean,
): Manifest[] {
  if (namespace.trim() === '') return [...manifests];
  return manifests.map((manifest) => (isNamespaced(manifest) ? setNamespace(manifest, namespace) : manifest));
}

/** The manifest with another namespace. */
export function setNamespace(manifest: Manifest, namespace: string): Manifest {
  return changeObject(manifest, ['metadata'], (metadata) => ({ ...metadata, namespace }));
}

/** The manifest with its name in the cluster. */
export function setName(manifest: Manifest, name: string): Manifest {
  return changeObject(manifest, ['metadata'], (metadata) => ({ ...metadata, name }));
}
