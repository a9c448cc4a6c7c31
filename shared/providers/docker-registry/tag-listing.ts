import type { CachedTag } from './cached-tags.ts';
import type { RegistryClient } from './registry-client.ts';

/** Lists a registry. Its methods throw FailedOperationError, and the signal's reason. */
export interface TagListing {
  /** The names of all repositories, each once. */
  listRepositories(signal: AbortSignal): Promise<readonly string[]>;
  /** The tags of a repository, each once, with their details in the list; undefined if there is no such repository. */
  listTags(repository: string, signal: AbortSignal): Promise<readonly CachedTag[] | undefined>;
}

/** Lists by the registry's own protocol, which returns only names. */
export function toTagListing(client: Pick<RegistryClient, 'listRepositories' | 'listTags'>): TagListing {
  return {
    listRepositories: (signal) => client.listRepositories(signal),
    async listTags(repository, signal) {
      return (await client.listTags(repository, signal))?.map((name) => ({ name }));
    },
  };
}
