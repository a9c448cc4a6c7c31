import type { CacheStore } from '../core/cache/cache-store.ts';
import { openViewSet, type ViewSet } from '../core/view-set.ts';
import { type CacheContext, openCacheContext } from './cache-context.ts';
import { openProviderContext, type ProviderContext } from './provider-context.ts';

/** What functions work with that read the cache of the configured accounts. */
export interface ReadContext extends ProviderContext, CacheContext {}

/** What one request works with that shows what is in the cache. */
export interface ViewContext extends ReadContext {
  /** The views of all providers. */
  readonly views: ViewSet;
}

/**
 * The context of this process, with the providers that are in force.
 *
 * @throws UnavailableError with the reason when the settings allow no providers.
 */
export async function openReadContext(): Promise<ReadContext> {
  return { ...(await openProviderContext()), ...openCacheContext() };
}

/** The context of one request, whose views read from this cache. */
export async function createViewContext(context: ReadContext, cache: CacheStore): Promise<ViewContext> {
  return { ...context, cache, views: await openViewSet(context.providers.providers, cache) };
}
