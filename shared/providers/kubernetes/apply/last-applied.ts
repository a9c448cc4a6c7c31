import { parseBoundedJson } from '#core/bounded-json.ts';
import { FailedOperationError, InvalidInputError } from '#core/errors.ts';
import { asJsonObject, asString, getPath, isJsonObject, type JsonObject } from '#core/json.ts';
import { answerJsonBounds } from '../api/answer-limits.ts';
import type { Manifest } from '../api/manifest.ts';
import { formatGoJson } from '../manifest/go-json.ts';

/** The annotation in which `kubectl apply` keeps the manifest it applied last. */
export const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration';

/**
 * The manifest with itself in its annotation, as `kubectl apply` sends it. What the manifest brings in that
 * annotation is ignored. Annotations that are null become empty texts, as kubectl makes them.
 *
 * @throws {InvalidInputError} when an annotation is neither a text nor null
 */
export function withLastApplied(manifest: Manifest): Manifest {
  const annotations = parseAnnotations(manifest);
  const applied = withAnnotations(manifest, annotations);
  // Written by Go's encoder, which ends every document with a line end.
  const text = `${formatGoJson(applied)}\n`;
  return withAnnotations(manifest, { ...annotations, [lastAppliedAnnotation]: text });
}

/** True when the object carries the annotation, be it empty. */
export function hasLastApplied(object: Manifest): boolean {
  return getPath(object, 'metadata', 'annotations', lastAppliedAnnotation) !== undefined;
}

/**
 * The manifest that was applied last to a live object; empty when none is known.
 *
 * @throws {FailedOperationError} when the annotation is no JSON object
 */
export function parseLastApplied(object: Manifest): Manifest {
  const text = asString(getPath(object, 'metadata', 'annotations', lastAppliedAnnotation)) ?? '';
  if (text === '') return {};
  const parsed = parseJson(text);
  if (isJsonObject(parsed)) return parsed;
  if (parsed === null) return {};
  throw new FailedOperationError(`The live object's annotation ${lastAppliedAnnotation} is no JSON object`);
}

function parseJson(text: string): unknown {
  try {
    return parseBoundedJson(text, answerJsonBounds).value;
  } catch {
    return undefined;
  }
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
