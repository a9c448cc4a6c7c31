import type { CacheStore, StoredObject } from '#caching/store/cache-store.ts';
import { countChunks, parseChunkName, type RepositoryPlace, toChunkKey } from './cached-tags.ts';

/** The cached state of a repository. */
interface CachedRepositoryState {
  /** Number of its objects. */
  readonly chunks: number;
  /** The latest revision of these. */
  readonly revision: string;
}

/** The cached repositories of an account, read consistently. */
export class CachedRepositories {
  readonly #cache: Pick<CacheStore, 'listHeads' | 'getObjects'>;
  readonly #place: RepositoryPlace;

  constructor(cache: Pick<CacheStore, 'listHeads' | 'getObjects'>, place: RepositoryPlace) {
    this.#cache = cache;
    this.#place = place;
  }

  /** The state of each. */
  async list(): Promise<ReadonlyMap<string, CachedRepositoryState>> {
    const states = new Map<string, CachedRepositoryState>();
    for await (const page of this.#cache.listHeads(this.#place.account, this.#place.kind)) {
      for (const { key, revision } of page) {
        const { repository, chunk } = parseChunkName(key.name);
        const known = states.get(repository) ?? { chunks: 0, revision: '' };
        states.set(repository, {
          chunks: Math.max(known.chunks, chunk + 1),
          revision: known.revision > revision ? known.revision : revision,
        });
      }
    }
    return states;
  }

  /** How many objects a repository has, according to its first one. */
  async countObjects(repository: string): Promise<number> {
    const [first] = await this.load(repository, 1);
    return first === undefined ? 0 : countChunks(first);
  }

  /** The objects of a repository. @param chunks how many it has */
  async load(repository: string, chunks: number): Promise<readonly (StoredObject | undefined)[]> {
    if (chunks === 0) return [];
    const keys = Array.from({ length: chunks }, (_, chunk) => toChunkKey(this.#place, repository, chunk));
    return this.#cache.getObjects(keys, { consistent: true });
  }
}
