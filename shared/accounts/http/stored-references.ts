import { denyApplication } from '#access/authorization.ts';
import type { RequestAccess } from '#access/http/request-access.ts';
import {
  type ArtifactStore,
  parseStoredReference,
  type StoredReference,
  storedReferencesMax,
} from '#artifact-store/artifact-store.ts';
import type { StoredPlace } from '#artifact-store/stored-places.ts';
import { type BoundedJson, parseBoundedJson } from '#core/bounded-json.ts';
import { mapConcurrently } from '#core/concurrency.ts';
import { InvalidInputError, NotFoundError, RefusedOperationsError, TooLargeError } from '#core/errors.ts';
import { isJsonObject, type JsonValue } from '#core/json.ts';
import { bodyLevelsMax, bodyMembersMax, bodyValuesMax } from '#core/request-limits.ts';
import { payloadBytesMax, toTooLargeMessage } from '#tasks/payload-limit.ts';

/** References read at a time. */
const readersMax = 8;

interface ExpandOptions {
  /** @throws NotFoundError where there is none. */
  openStore(): ArtifactStore;
  readonly rights: RequestAccess['rights'];
  readonly signal: AbortSignal;
  /** Bytes of the request without the contents of its references. */
  readonly bodyBytes: number;
}

/**
 * Replaces each reference by its content in the artifact store: a manifest, or the content of an artifact in base 64. Everything is read,
 * checked and counted before anything is replaced.
 *
 * @throws InvalidInputError for what cannot be expanded; RefusedOperationsError for content of an application that the caller may not read;
 *   TooLargeError for more than a request may hold; what the store throws.
 */
export async function expandStored(places: readonly StoredPlace[], options: ExpandOptions): Promise<void> {
  const references = new Map(
    places.map(({ path, reference }) => [reference, parseStoredReference(reference, path)]),
  );
  if (references.size > storedReferencesMax) {
    throw new InvalidInputError(
      `The request refers to ${references.size} things in the artifact store: at most ${storedReferencesMax} are accepted`,
    );
  }
  for (const application of new Set([...references.values()].map((reference) => reference.application))) {
    if (options.rights.mayUseApplication(application, 'READ')) continue;
    const denial = denyApplication(application, 'READ').message;
    throw new RefusedOperationsError(denial, { denial });
  }
  const contents = await readContents(references, options).catch(toInvalid);
  for (const [place, value] of makeValues(places, contents, options.bodyBytes)) place.put(value);
}

async function readContents(
  references: ReadonlyMap<string, StoredReference>,
  { openStore, signal, bodyBytes }: ExpandOptions,
): Promise<ReadonlyMap<string, Buffer>> {
  const budget = { bytes: payloadBytesMax - bodyBytes };
  const store = openStore();
  const contents = await mapConcurrently([...references], readersMax, async ([text, reference]) => {
    const body = await store.open(reference, signal);
    return [text, await readAll(body, budget)] as const;
  });
  return new Map(contents);
}

/** A missing content is a mistake in the request: the route itself exists. */
function toInvalid(error: unknown): never {
  throw error instanceof NotFoundError ? new InvalidInputError(error.message, { cause: error }) : error;
}

async function readAll(body: AsyncIterable<Uint8Array>, budget: { bytes: number }): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body) {
    budget.bytes -= piece.length;
    if (budget.bytes < 0) throw tooLarge(payloadBytesMax - budget.bytes);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

/** The content for each reference. One that is referred to several times counts as often. */
function makeValues(
  places: readonly StoredPlace[],
  contents: ReadonlyMap<string, Buffer>,
  bodyBytes: number,
): [StoredPlace, JsonValue][] {
  const manifests = new Map<string, BoundedJson>();
  let bytes = bodyBytes;
  let values = 0;
  return places.map((place) => {
    const content = contents.get(place.reference) ?? Buffer.alloc(0);
    bytes += place.isManifest ? content.length : Math.ceil(content.length / 3) * 4;
    if (bytes > payloadBytesMax) throw tooLarge(bytes);
    if (!place.isManifest) return [place, content.toString('base64')];
    const manifest = manifests.get(place.reference) ?? parseManifest(content, place.path);
    manifests.set(place.reference, manifest);
    values += manifest.values;
    if (values <= bodyValuesMax) return [place, manifest.value];
    throw new InvalidInputError(`${place.path}: the manifests hold more than ${bodyValuesMax} values`);
  });
}

/** A parser's own message would quote the manifest, which may hold a secret. */
function parseManifest(content: Buffer, path: string): BoundedJson {
  const text = content.toString('utf8');
  const bounds = { depthMax: bodyLevelsMax, valuesMax: bodyValuesMax, membersMax: bodyMembersMax };
  let parsed: BoundedJson | undefined;
  try {
    parsed = parseBoundedJson(text, bounds);
  } catch {
    // Reported below, in our own words.
  }
  if (parsed !== undefined && isJsonObject(parsed.value)) return parsed;
  throw new InvalidInputError(
    `${path}: what stands in the artifact store is no manifest: expected one JSON object of at most ${bodyLevelsMax} levels, ` +
      `${bodyValuesMax} values and ${bodyMembersMax} members of an object`,
  );
}

function tooLarge(bytes: number): TooLargeError {
  return new TooLargeError(
    toTooLargeMessage(
      `with what it refers to in the artifact store it has ${bytes} bytes and more, which exceeds`,
    ),
  );
}
