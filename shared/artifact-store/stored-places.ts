import { asJsonArray, asJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import { storedScheme } from './artifact-store.ts';

/** A reference to the artifact store in a request for operations. */
export interface StoredPlace {
  /** Its path: `[0].deployManifest.manifests[1]`. */
  readonly path: string;
  /** `ref://shop/867867a8…`, as sent. */
  readonly reference: string;
  /** Whether it replaces a manifest, else the content of an artifact. */
  readonly isManifest: boolean;
  /** Puts a value in its place. */
  put(value: JsonValue): void;
}

/** Fields of descriptions that hold manifests, and artifacts. */
const fields = {
  'remote/map/base64': ['manifest', 'manifests'],
  'remote/base64': ['artifacts', 'requiredArtifacts', 'optionalArtifacts'],
} as const;

/**
 * The references to the artifact store in fields of operations, as Spinnaker's other services write them: artifacts of type
 * `remote/map/base64` in place of manifests, and of type `remote/base64` among artifacts. It does not look inside manifests.
 */
export function* findStoredPlaces(body: JsonValue): Generator<StoredPlace, void, undefined> {
  for (const [index, operation] of asJsonArray(body).entries()) {
    for (const [name, value] of Object.entries(asJsonObject(operation) ?? {})) {
      const description = asJsonObject(value);
      if (description !== undefined)
        yield* findInDescription(description, `[${index}].${name.slice(0, 100)}`);
    }
  }
}

function* findInDescription(description: JsonObject, at: string): Generator<StoredPlace, void, undefined> {
  for (const [type, keys] of Object.entries(fields)) {
    for (const key of keys) {
      const value = description[key];
      const entries = Array.isArray(value) ? value : [value];
      for (const [index, entry] of entries.entries()) {
        const holder = asJsonObject(entry);
        const reference = holder?.type === type ? holder.reference : undefined;
        if (holder === undefined || typeof reference !== 'string' || !reference.startsWith(storedScheme))
          continue;
        const isManifest = type === 'remote/map/base64';
        const path = Array.isArray(value) ? `${at}.${key}[${index}]` : `${at}.${key}`;
        yield {
          ...{ path, reference, isManifest },
          put(content) {
            const replacement = isManifest ? content : { ...holder, reference: content };
            if (Array.isArray(value)) value[index] = replacement;
            else description[key] = replacement;
          },
        };
      }
    }
  }
}
