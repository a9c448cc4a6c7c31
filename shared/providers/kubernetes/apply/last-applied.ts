import { FailedOperationError, InvalidInputError } from '#core/errors.ts';
import { asJsonObject, asString, getPath, isJsonObject, type JsonObject } from '#core/json.ts';
import { findJson } from '../api/find-json.ts';
import type { Manifest } from '../api/manifest.ts';
import { formatGoJson } from '../manifest/go-json.ts';

/** The annotation in which `kubectl apply` keeps the last applied manifest. */
export const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration';

/**
 * The manifest with itself in its annotation, as `kubectl apply` sends it. The manifest's own value of that annotation is ignored. As in
 * kubectl, null annotations become empty texts.
 *
 * @throws {InvalidInputError} if an annotation is neither a text nor null
 */
export function withLastApplied(manifest: Manifest): Manifest {
  const annotations = parseAnnotations(manifest);
  const applied = withAnnotations(manifest, annotations);
  // As written by Go's encoder, which adds a line end to every document.
  const text = `${formatGoJson(applied)}\n`;
  return withAnnotations(manifest, { ...annotations, [lastAppliedAnnotation]: text });
}

/** True if the object has the annotation, even an empty one. */
export function hasLastApplied(object: Manifest): boolean {
  return getPath(object, 'metadata', 'annotations', lastAppliedAnnotation) !== undefined;
}

/**
 * The last manifest applied to a live object; empty if none is known.
 *
 * @throws {FailedOperationError} if the annotation is not a JSON object
 */
export function parseLastApplied(object: Manifest): Manifest {
  const text = asString(getPath(object, 'metadata', 'annotations', lastAppliedAnnotation)) ?? '';
  if (text === '') return {};
  const parsed = findJson(text);
  if (isJsonObject(parsed)) return parsed;
  if (parsed === null) return {};
  throw new FailedOperationError(`The live object's annotation ${lastAppliedAnnotation} is no JSON object`);
}

function withAnnotations(manifest: Manifest, annotations: JsonObject): Manifest {
  return { ...manifest, metadata: { ...asJsonObject(manifest.metadata), annotations } };
}

function parseAnnotations(manifest: Manifest): JsonObject {
  const annotations = getPath(manifest, 'metadata', 'annotations') ?? {};
  if (!isJsonObject(annotations)) throw new InvalidInputError('metadata.annotations: an object was expected');
  const entries = Object.entries(annotations).filter(([key]) => key !== lastAppliedAnnotation);
  for (const [key, value] of entries) {
    if (typeof value === 'string' || value === null) continue;
    throw new InvalidInputError(`metadata.annotations.${key}: a string was expected`);
  }
  return Object.fromEntries(entries.map(([key, value]) => [key, value ?? '']));
}
