import type { CachingRun } from '#caching/scheduling/caching-agent.ts';
import type { Clock } from '#core/clock.ts';
import { TimeoutError, within } from '#core/deadline.ts';
import type { JsonObject } from '#core/json.ts';
import type { CloudProvider } from './cloud-provider.ts';

/** Milliseconds that a stage waits for its object to be read. */
const refreshTimeoutMs = 5_000;

/** What a stage has changed: see `CachingSource.findRefresh`. */
interface RefreshRequest {
  /** Id of the cloud provider, in any case. */
  readonly provider: string;
  readonly type: string;
  readonly key: JsonObject;
}

/** What became of it: the ids of what is cached by now, or, if that takes too long, of what is not. */
interface RefreshOutcome {
  readonly isPending: boolean;
  readonly cachedIdentifiersByType: { readonly [type: string]: readonly string[] };
}

/**
 * Reads the object that a stage has changed into the cache, and waits 5 seconds for that.
 *
 * @throws what its provider throws
 */
export async function forceRefresh(
  clouds: readonly Pick<CloudProvider, 'name' | 'caching'>[],
  { provider, type, key }: RefreshRequest,
  { clock, cache, signal }: Pick<CachingRun, 'cache' | 'signal'> & { readonly clock: Pick<Clock, 'sleep'> },
): Promise<RefreshOutcome> {
  const own = clouds.filter(({ name }) => name.toLowerCase() === provider.toLowerCase());
  const [refresh] = own.flatMap(({ caching }) => caching?.findRefresh?.(type, key) ?? []);
  if (refresh === undefined) return { isPending: false, cachedIdentifiersByType: {} };
  const cachedIdentifiersByType = { [type]: [refresh.id] };
  const deadline = { ms: refreshTimeoutMs, what: `reading ${refresh.id}`, signal };
  try {
    await within(clock, deadline, (until) => refresh.run({ cache, signal: until }));
    return { isPending: false, cachedIdentifiersByType };
  } catch (error) {
    if (error instanceof TimeoutError) return { isPending: true, cachedIdentifiersByType };
    throw error;
  }
}
