import type { CachedTag } from './cached-tags.ts';
import type { RegistryClient } from './registry-client.ts';

/** What lists a registry. Its methods throw FailedOperationError, and the signal's reason. */
export interface TagListing {
  /** The names of all repositories, each once. */
  listRepositories(signal: AbortSignal): Promise<readonly string[]>;
  /** The tags of a repository, each once, with what the list tells of them; undefined when there is no such repository. */
  listTags(repository: string, signal: AbortSignal): Promise<readonly CachedTag[] | undefined>;
}

/** Lists by the registry's own protocol, which tells names alone. */
export function toTagListing(client: Pick<RegistryClient, 'listRepositories' | 'listTags'>): TagListing {
  return {
    listRepositories: (signal) => client.listRepositories(signal),
    async listTags(repository, signal) {
      return (await client.listTags(repository, signal))?.map((name) => ({ name }));
    },
  };
}
