import type { Hints } from '#agents/agent-connections.ts';
import { type CacheServices, openCache } from '#caching/services/cache.ts';
import type { Services } from '#platform/services/services.ts';
import { openProviders, type ProviderServices } from '#provider-kit/services/providers.ts';
import { openViewSet, type ViewSet } from '../view-set.ts';

/** What functions use that read the cache of the configured accounts. */
export interface ReadServices extends ProviderServices, CacheServices {
  /** Notifies agents that a request waits until an account is fresh. */
  readonly hints: Hints;
}

/** What a request uses that shows cached data. */
export interface ViewServices extends ReadServices {
  /** The views of all providers. */
  readonly views: ViewSet;
  /** Whether the answer's caller may see an account. */
  mayRead(account: string): boolean;
}

/** The cache, and the providers that are in force. @throws UnavailableError with the reason when the settings allow no providers. */
export async function openReads(services: Services): Promise<ReadServices> {
  // Loaded late: the cached data suffices for most requests.
  const hints: Hints = {
    send: async (hint) => (await import('#agents/sessions/hints.ts')).openHints(services).send(hint),
  };
  return { ...(await openProviders(services)), ...openCache(services, 'request'), hints };
}

/** What a request uses, with views of the given cache. @param services.mayRead whether the caller may see an account */
export async function createViews(
  services: ReadServices & { mayRead(account: string): boolean },
): Promise<ViewServices> {
  const { providers, cache, mayRead } = services;
  return { ...services, views: await openViewSet(providers.clouds, cache, mayRead) };
}
