import { InvalidInputError } from '#core/errors.ts';
import { asJsonArray, isJsonObject, type JsonObject } from '#core/json.ts';
import { annotationKeys, hasAnnotation } from '../manifest/annotations.ts';
import { readFullName } from '../manifest/identity.ts';

/**
 * Refuses a manifest that was returned from the cache while its cluster was unreachable: a deploy would remove what it lacks from the
 * object. The items of a `List` count, too.
 *
 * @throws InvalidInputError naming the manifest
 */
export function checkManifestComplete(manifest: JsonObject): void {
  const items = asJsonArray(manifest['items']).filter(isJsonObject);
  const incomplete = [manifest, ...items].find((each) => hasAnnotation(each, annotationKeys.incomplete));
  if (incomplete === undefined) return;
  throw new InvalidInputError(
    `${readFullName(incomplete)}: the annotation '${annotationKeys.incomplete}' says that it came from the cache and that most of it ` +
      'is missing: read it again once its cluster answers',
  );
}
