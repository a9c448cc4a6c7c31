import { asString, isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import type { Manifest } from '../api/manifest.ts';
import { changeObject } from './edit.ts';

/** An object that was sent, by itself or in a list. */
export interface ListedObject {
  /** Where it stands in what was sent. */
  readonly path: readonly (string | number)[];
  readonly value: JsonValue;
}

/**
 * What an object stands for, as kubectl takes it: the items of a `List`, and of whatever else has `items` and a kind that ends so,
 * such as `RoleList`; else itself. Nulls among items are dropped, a list in a list stays. Items of a list of one kind are of that
 * kind where they name none, as the API server answers them.
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
 * The manifests with `namespace` in place of whatever namespace they name, except those that live in none. A blank
 * namespace changes nothing.
 *
 * @param isNamespaced tells for a manifest; ask the cluster about kinds the registry does not know.
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

/** The manifest with the name it gets in the cluster. */
export function setName(manifest: Manifest, name: string): Manifest {
  return changeObject(manifest, ['metadata'], (metadata) => ({ ...metadata, name }));
}
