import { InvalidInputError } from '../../../core/errors.ts';
import { asJsonArray, asString, isJsonObject, type JsonObject } from '../../../core/json.ts';
import type { Manifest } from '../api/manifest.ts';
import { changeObject } from './edit.ts';

/**
 * The manifests of a request, each `List` replaced by its items. Nulls are dropped; a list inside a list stays.
 *
 * @throws InvalidInputError for an entry that is no object.
 */
export function expandLists(manifests: readonly unknown[]): Manifest[] {
  return listObjects(manifests, 'manifests').flatMap((manifest) => {
    const isList = asString(manifest.kind)?.toLowerCase() === 'list';
    return isList ? listObjects(asJsonArray(manifest.items), 'items of a List') : [manifest];
  });
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

/** The objects of a list without its nulls; `path` names the list in messages. */
function listObjects(values: readonly unknown[], path: string): JsonObject[] {
  return values.flatMap((value, index) => {
    if (value === null || value === undefined) return [];
    if (isJsonObject(value)) return [value];
    const found = Array.isArray(value) ? 'a list' : `a ${typeof value}`;
    throw new InvalidInputError(`${path}[${index}]: expected a Kubernetes object, got ${found}`);
  });
}
