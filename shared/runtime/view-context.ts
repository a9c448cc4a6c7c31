import { openViewSet, type ViewSet } from '../core/view-set.ts';
import { type CacheContext, openCacheContext } from './cache-context.ts';
import { openProviderContext, type ProviderContext } from './provider-context.ts';

/** What functions work with that show what is in the cache. */
export interface ViewContext extends ProviderContext, CacheContext {
  /** The views of all providers. */
  readonly views: ViewSet;
}

/**
 * The context of one request.
 *
 * @throws UnavailableError with the reason when the settings allow no providers.
 */
export async function openViewContext(): Promise<ViewContext> {
  const context = { ...(await openProviderContext()), ...openCacheContext() };
  return { ...context, views: await openViewSet(context.providers.providers, context.cache) };
}
