import type { Hints } from '#agents/agent-connections.ts';
import { type CacheServices, openCache } from '#caching/services/cache.ts';
import type { Services } from '#platform/services/services.ts';
import { openProviders, type ProviderServices } from '#provider-kit/services/providers.ts';
import { openViewSet, type ViewSet } from '../view-set.ts';

/** What functions work with that read the cache of the configured accounts. */
export interface ReadServices extends ProviderServices, CacheServices {
  /** Tells agents that somebody waits until an account is fresh. */
  readonly hints: Hints;
}

/** What one request works with that shows what is in the cache. */
export interface ViewServices extends ReadServices {
  /** The views of all providers. */
  readonly views: ViewSet;
  /** Whether an account may be shown to whom the answer is for. */
  mayRead(account: string): boolean;
}

/**
 * The cache, and the providers that are in force.
 *
 * @throws UnavailableError with the reason when the settings allow no providers.
 */
export async function openReads(services: Services): Promise<ReadServices> {
  // Loaded late: most requests are met by what is cached.
  const hints: Hints = {
    send: async (hint) => (await import('#agents/sessions/hints.ts')).openHints(services).send(hint),
  };
  return { ...(await openProviders(services)), ...openCache(services, 'request'), hints };
}

/**
 * What one request works with, whose views read from the cache that is given.
 *
 * @param services.mayRead whether an account may be shown to whom the answer is for.
 */
export async function createViews(
  services: ReadServices & { mayRead(account: string): boolean },
): Promise<ViewServices> {
  const { providers, cache, mayRead } = services;
  return { ...services, views: await openViewSet(providers.providers, cache, mayRead) };
}
