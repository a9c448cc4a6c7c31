import { asJsonObject, getPath, type JsonObject } from '../../../core/json.ts';
import type { KindDefinition } from '../kinds/kind.ts';
import { annotationKeys, parseJson } from './annotations.ts';
import { changeObject } from './edit.ts';
import type { Manifest } from './manifest.ts';

/**
 * The manifest without what must not show outside its cluster: the sensitive top-level keys of its kind, and the
 * copies of them in the record of the last apply. A record that cannot be read goes altogether.
 */
export function omitSensitiveKeys(manifest: Manifest, kind: Pick<KindDefinition, 'sensitiveKeys'>): Manifest {
  if (kind.sensitiveKeys.length === 0) return manifest;
  const stripped = omitKeys(manifest, kind.sensitiveKeys);
  const record = getPath(stripped, 'metadata', 'annotations', annotationKeys.lastApplied);
  if (record === undefined) return stripped;
  const applied = typeof record === 'string' ? asJsonObject(parseJson(record)) : undefined;
  return changeObject(stripped, ['metadata', 'annotations'], (annotations) => ({
    ...omitKeys(annotations, [annotationKeys.lastApplied]),
    ...(applied === undefined
      ? {}
      : { [annotationKeys.lastApplied]: JSON.stringify(omitKeys(applied, kind.sensitiveKeys)) }),
  }));
}

/** The object without these members. */
function omitKeys(object: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key)));
}
