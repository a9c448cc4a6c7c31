import type { ObjectKey, StoredObject } from '#caching/store/cache-store.ts';
import { asJsonArray, asJsonObject, asString, getPath, type JsonValue } from '#core/json.ts';

/** A cached tag. */
export interface CachedTag {
  readonly name: string;
  /** The digest that it refers to, if the account tracks digests. */
  readonly digest?: string | undefined;
  /** When the image was created, according to itself. */
  readonly created?: string | undefined;
  /** Labels of the image; undefined if they were not read. */
  readonly labels?: { readonly [name: string]: string } | undefined;
}

/** Lists a registry. Its methods throw FailedOperationError, and the signal's reason. */
export interface TagListing {
  /** The names of all repositories, each once. */
  listRepositories(signal: AbortSignal): Promise<readonly string[]>;
  /** The tags of a repository, each once, with their details in the list; undefined if there is no such repository. */
  listTags(repository: string, signal: AbortSignal): Promise<readonly CachedTag[] | undefined>;
}

/** Kinds of the cached objects: repositories of images, and of charts, in chunks. */
export type RepositoryKind = 'repository' | 'chart';

/** Where repositories are cached. */
export interface RepositoryPlace {
  readonly account: string;
  readonly kind: RepositoryKind;
}

/** The most tags of one object. */
export const chunkTagsMax = 2_000;

/** The most bytes of one object's tags, uncompressed: an object holds 380 KB compressed. */
const chunkBytesMax = 300 * 2 ** 10;

/** The name of the object with a repository's chunk: `shop/cart`, `shop/cart#1` … */
export function toChunkName(repository: string, chunk: number): string {
  return chunk === 0 ? repository : `${repository}#${chunk}`;
}

/** The key of such an object. */
export function toChunkKey(place: RepositoryPlace, repository: string, chunk: number): ObjectKey {
  return { ...place, location: '', name: toChunkName(repository, chunk) };
}

/** The repository and chunk of a cached object, by its name. */
export function parseChunkName(name: string): { readonly repository: string; readonly chunk: number } {
  const [repository = '', chunk = '0'] = name.split('#', 2);
  return { repository, chunk: Number(chunk) };
}

/** The bodies of the objects that hold these tags, chunk by chunk; one without tags for none. */
export function writeChunks(tags: readonly CachedTag[]): readonly string[] {
  const chunks: string[][] = [[]];
  let bytes = 0;
  for (const tag of tags) {
    const text = JSON.stringify(tag);
    const size = Buffer.byteLength(text);
    const last = chunks.at(-1);
    if (
      last === undefined ||
      last.length >= chunkTagsMax ||
      (last.length > 0 && bytes + size > chunkBytesMax)
    ) {
      chunks.push([text]);
      bytes = size;
    } else {
      last.push(text);
      bytes += size;
    }
  }
  return chunks.map((texts) => `{"chunks":${chunks.length},"tags":[${texts.join()}]}`);
}

/**
 * The tags in the objects of one repository, by chunk. Chunks left over from a longer list are ignored.
 *
 * @param objects in the order of their chunks
 */
export function readChunks(
  objects: readonly (Pick<StoredObject, 'readBody'> | undefined)[],
): readonly CachedTag[] {
  const [first, ...others] = objects;
  if (first === undefined) return [];
  const body = parseBody(first);
  const count = Number(getPath(body, 'chunks') ?? 1);
  const bodies = [body, ...others.slice(0, count - 1).map((object) => object && parseBody(object))];
  return bodies.flatMap((each) => asJsonArray(getPath(each, 'tags')).flatMap(readTag));
}

/** How many objects a repository has, according to its first one. */
export function countChunks(first: Pick<StoredObject, 'readBody'>): number {
  const count = Number(getPath(parseBody(first), 'chunks') ?? 1);
  return Number.isInteger(count) && count > 0 ? count : 1;
}

function parseBody(object: Pick<StoredObject, 'readBody'>): unknown {
  return JSON.parse(object.readBody());
}

function readTag(value: JsonValue): CachedTag[] {
  const name = asString(getPath(value, 'name'));
  if (name === undefined) return [];
  const digest = asString(getPath(value, 'digest'));
  const created = asString(getPath(value, 'created'));
  const labels = asJsonObject(getPath(value, 'labels'));
  return [
    {
      name,
      ...(digest !== undefined && { digest }),
      ...(created !== undefined && { created }),
      ...(labels && { labels: readLabels(labels) }),
    },
  ];
}

function readLabels(labels: { readonly [name: string]: JsonValue }): { readonly [name: string]: string } {
  return Object.fromEntries(Object.entries(labels).map(([name, value]) => [name, String(value)]));
}
