import { openViewSet, type ViewSet } from '../../core/providers/view-set.ts';
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
  return { ...(await openProviderContext()), ...openCacheContext('request') };
}

/**
 * The context of one request, whose views read from the context's cache.
 *
 * @param context.mayRead whether an account may be shown to whom the answer is for.
 */
export async function createViewContext(
  context: ReadContext & { mayRead(account: string): boolean },
): Promise<ViewContext> {
  const { providers, cache, mayRead } = context;
  return { ...context, views: await openViewSet(providers.providers, cache, mayRead) };
}
