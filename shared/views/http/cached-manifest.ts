import type { AccountFreshness } from '#caching/scheduling/caching-agent-store.ts';
import { within } from '#core/deadline.ts';
import { getErrorMessage, UnreachableError } from '#core/errors.ts';
import type { ApiRequest } from '#http/api-handler.ts';
import type { ManifestReader, ManifestRequest } from '#provider-kit/live-reads.ts';
import { parseMaxAgeMs, parseStaleIfErrorMs, toFreshnessHeaders } from '../freshness-headers.ts';
import type { ReadServices } from '../services/views.ts';
import { openViewSet } from '../view-set.ts';
import type { Viewed } from '../views.ts';

/** Milliseconds for which a caller that accepts a cached answer waits for the cluster. */
export const liveReadTimeoutMs = 10_000;

/** Headers that Orca sends with each request of an execution, and that Deck's requests do not have. */
const executionHeaders = ['x-spinnaker-execution-id', 'x-spinnaker-execution-type'] as const;

/** What a manifest is read from, live or cached. */
export interface ManifestSources {
  readonly reader: ManifestReader;
  readonly services: Pick<ReadServices, 'providers' | 'clock' | 'log'>;
  /** Opens the cache; called only where a cluster does not answer. */
  openCache(): Promise<Pick<ReadServices, 'cache' | 'agents'>>;
}

/** An object, and headers with its age where it comes from the cache. */
export interface ReadManifest {
  readonly manifest: object;
  readonly headers: { readonly [name: string]: string };
}

/**
 * How old a cached answer may be that a caller accepts while the cluster is unreachable, in milliseconds; undefined where they accept none.
 *
 * Deck does, whatever the age: its requests come through Gate, which marks them `X-SPINNAKER-USER-ORIGIN: deck`. Other callers say so by
 * `Cache-Control: stale-if-error=600`. Callers that demand fresh data by `max-age` or `no-cache` get none. Nor does Orca: what it deletes,
 * and when a stage is done, depends on what it reads. Its requests within an execution are recognized by their headers.
 */
export function findCachedAgeMaxMs(request: Pick<ApiRequest, 'findHeader'>): number | undefined {
  if (executionHeaders.some((name) => request.findHeader(name))) return undefined;
  const cacheControl = request.findHeader('cache-control');
  const staleMaxMs = parseStaleIfErrorMs(cacheControl);
  if (staleMaxMs !== undefined || parseMaxAgeMs(cacheControl) !== undefined) return staleMaxMs;
  const origin = request.findHeader('x-spinnaker-user-origin')?.toLowerCase();
  return origin === 'deck' ? Number.POSITIVE_INFINITY : undefined;
}

/**
 * Reads an object from its cluster or, where that is unreachable and the request allows it, from the cache. It then waits for a cluster for
 * at most 10 seconds.
 *
 * @throws what the live read throws, where the cache cannot help.
 */
export async function readLiveOrCached(
  request: ApiRequest,
  wanted: ManifestRequest,
  sources: ManifestSources,
): Promise<ReadManifest> {
  const ageMaxMs = findCachedAgeMaxMs(request);
  if (ageMaxMs === undefined) return { manifest: await sources.reader.getManifest(wanted), headers: {} };
  try {
    return { manifest: await readSoon(wanted, { ...sources, signal: request.signal }), headers: {} };
  } catch (error) {
    if (!(error instanceof UnreachableError)) throw error;
    const cached = await readCached(request, wanted, { ...sources, reason: error.message, ageMaxMs });
    if (cached === undefined) throw error;
    return cached;
  }
}

/** The live object. @throws UnreachableError when it does not come in time. */
async function readSoon(
  wanted: ManifestRequest,
  { reader, services, signal }: ManifestSources & { readonly signal: AbortSignal },
): Promise<object> {
  const { account, location, name } = wanted;
  const what = `Failed to read manifest (account: ${account}, location: ${location}, name: ${name})`;
  const toError = () => new UnreachableError(`${what}: no answer within ${liveReadTimeoutMs / 1000} s`);
  return within(services.clock, { ms: liveReadTimeoutMs, toError, signal }, (either) =>
    reader.getManifest({ ...wanted, signal: either }),
  );
}

type Freshness = ReadonlyMap<string, AccountFreshness>;

interface CachedReading extends ManifestSources {
  readonly reason: string;
  readonly ageMaxMs: number;
}

/** The cached object; undefined where none is, or it is too old. */
async function readCached(
  { access }: ApiRequest,
  { account, location, name }: ManifestRequest,
  { services, openCache, reason, ageMaxMs }: CachedReading,
): Promise<ReadManifest | undefined> {
  const { providers, clock, log } = services;
  const { cache, agents } = await openCache();
  const mayRead = await access.openAccountFilter();
  const freshness = await agents.readFreshness([account]).catch((error: unknown): Freshness => {
    log.warn('the age of an answer cannot be told', { account, error: getErrorMessage(error) });
    return new Map();
  });
  const nowMs = clock.now();
  const asOfMs = freshness.get(account)?.asOfMs;
  if (Number.isFinite(ageMaxMs) && (asOfMs === undefined || nowMs - asOfMs > ageMaxMs)) return undefined;
  const views = await openViewSet(providers.clouds, cache, mayRead);
  const found: Viewed | undefined = await views.findManifest({
    account,
    location,
    name,
    reason: `${reason}.`,
    nowMs,
    asOfMs,
  });
  if (found === undefined) return undefined;
  log.info('a manifest is answered from the cache: its cluster does not answer', { account, reason });
  return { manifest: found.value, headers: toFreshnessHeaders(freshness, found.accounts, nowMs) };
}
