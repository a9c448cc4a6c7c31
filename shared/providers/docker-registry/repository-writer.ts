import type { CacheStore } from '#caching/store/cache-store.ts';
import { type Revision, toRevision } from '#caching/store/revision.ts';
import {
  type CachedTag,
  countChunks,
  parseChunkName,
  type RepositoryKind,
  type RepositoryPlace,
  readChunks,
  toChunkKey,
  writeChunks,
} from './cached-tags.ts';

interface WriterOptions {
  readonly account: string;
  /** Whether they have images or charts. */
  readonly kind: RepositoryKind;
  readonly cache: CacheStore;
  /** When the run began, wall time in milliseconds: of two runs the later one wins. */
  readonly startedAtMs: number;
  /** Called before each write. @throws if the run may not write any more */
  ensureHeld(): void;
}

/** The cached state of a repository. */
interface CachedRepositoryState {
  /** Number of its objects. */
  readonly chunks: number;
  /** The latest revision of these; empty while others write it. */
  readonly revision: string;
}

/** Writes repositories into the cache: only what differs from the cache. */
export class RepositoryWriter {
  readonly #options: WriterOptions;
  readonly #place: RepositoryPlace;
  readonly #revision: Revision;
  /** Objects that were put or removed. */
  changes = 0;

  constructor(options: WriterOptions) {
    this.#options = options;
    this.#place = { account: options.account, kind: options.kind };
    this.#revision = toRevision(1, String(options.startedAtMs));
  }

  /** The state of each cached repository. */
  async listCached(): Promise<ReadonlyMap<string, CachedRepositoryState>> {
    const { cache } = this.#options;
    const states = new Map<string, CachedRepositoryState>();
    for await (const page of cache.listHeads(this.#place.account, this.#place.kind)) {
      for (const { key, revision } of page) {
        const { repository, chunk } = parseChunkName(key.name);
        const known = states.get(repository);
        states.set(repository, {
          chunks: Math.max(known?.chunks ?? 0, chunk + 1),
          revision: getLatest(known?.revision ?? '', revision),
        });
      }
    }
    return states;
  }

  /** How many objects a repository has, according to its first one. */
  async countObjects(repository: string): Promise<number> {
    const [first] = await this.#load(repository, 1);
    return first === undefined ? 0 : countChunks(first);
  }

  /** The cached tags of a repository. @param chunks number of its objects */
  async read(repository: string, chunks: number): Promise<readonly CachedTag[]> {
    return readChunks(await this.#load(repository, chunks));
  }

  /** Caches the tags of a repository. @param before number of its objects. @returns its new state. */
  async write(
    repository: string,
    tags: readonly CachedTag[],
    before: number,
  ): Promise<CachedRepositoryState> {
    const { cache, ensureHeld } = this.#options;
    const bodies = writeChunks(tags);
    const stored = await this.#load(repository, before);
    let latest = '';
    let isOvertaken = false;
    for (const [chunk, body] of bodies.entries()) {
      const present = stored[chunk];
      if (present?.readBody() === body) {
        latest = getLatest(latest, present.revision);
        continue;
      }
      ensureHeld();
      const key = toChunkKey(this.#place, repository, chunk);
      const isPut = await cache.putObject({ key, revision: this.#revision, body });
      if (isPut) this.changes += 1;
      else isOvertaken = true;
      latest = getLatest(latest, this.#revision);
    }
    await this.#removeFrom(repository, bodies.length, before);
    return { chunks: bodies.length, revision: isOvertaken ? '' : latest };
  }

  /** Evicts a repository. @param chunks number of its objects */
  remove(repository: string, chunks: number): Promise<void> {
    return this.#removeFrom(repository, 0, chunks);
  }

  async #removeFrom(repository: string, first: number, end: number): Promise<void> {
    const { cache, ensureHeld } = this.#options;
    for (let chunk = first; chunk < end; chunk += 1) {
      ensureHeld();
      if (await cache.deleteObject(toChunkKey(this.#place, repository, chunk), this.#revision))
        this.changes += 1;
    }
  }

  #load(repository: string, chunks: number) {
    const keys = Array.from({ length: chunks }, (_, chunk) => toChunkKey(this.#place, repository, chunk));
    return this.#options.cache.getObjects(keys, { consistent: true });
  }
}

/** Of two revisions, which compare as texts do, the later one. */
function getLatest(one: string, other: string): string {
  return one > other ? one : other;
}
