import type { ReadOutcome } from '#caching/engine/scope-source.ts';
import type { Clock } from '#core/clock.ts';
import { includesVersion, isOlder } from '../api/resource-version.ts';
import type { ListPage } from '../client/list-pages.ts';
import { findRefusal, getResourceVersionAfter } from './kind-refusal.ts';
import type { KindScope, WatchChange, WatchEnd } from './watch.ts';
import type { WatchClient } from './watch-client.ts';

/** What to bring up to date. */
export interface CatchUpRequest extends KindScope {
  /** The resource version up to which everything is known; undefined to list everything. */
  readonly resourceVersion: string | undefined;
  /**
   * False, the default, for a watch of one second. True for one that stops at the server's first bookmark: that advances the resource
   * version of a kind that does not change. It takes one to two seconds, and a new connection the next time.
   */
  readonly awaitsBookmark?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called with a page of the list; the next page is read once it resolves. */
  onPage(page: ListPage): void | Promise<void>;
  /** Called with changes, in order; more are read from the server once it resolves. */
  onChanges(changes: readonly WatchChange[]): void | Promise<void>;
}

/** The tools for catching up. */
export interface CatchUpTools {
  readonly client: WatchClient;
  readonly clock: Clock;
}

/** The shortest watch of a server. */
const quickWatchSeconds = 1;
/** API servers send a bookmark two seconds before the end of a watch, so one must last longer than that. */
const bookmarkWatchSeconds = 3;
/** How much less than requested a watch may last that the server ended normally. */
const earlyEndMs = 250;

/**
 * Finds a kind's changes since a resource version, or lists everything. docs/decisions/0027-positions-of-watches.md explains how resource
 * versions and as-of times may advance.
 *
 * @throws what `onPage` and `onChanges` throw
 */
export async function catchUpKind(
  request: CatchUpRequest,
  { client, clock }: CatchUpTools,
): Promise<ReadOutcome> {
  const { resourceVersion, signal } = request;
  const readAtMs = clock.now();
  try {
    if (resourceVersion === undefined) return await listAll(request, client, readAtMs);
    const newest = await client.readResourceVersion(request, { signal });
    return await catchUp({ ...request, resourceVersion }, client, { resourceVersion: newest, readAtMs });
  } catch (error) {
    if (signal?.aborted) return { outcome: 'aborted', position: resourceVersion, asOfMs: undefined };
    const outcome = findRefusal(error);
    if (outcome === undefined || !(error instanceof Error)) throw error;
    return {
      outcome,
      position: getResourceVersionAfter(outcome, resourceVersion),
      asOfMs: undefined,
      error,
    };
  }
}

async function listAll(request: CatchUpRequest, client: WatchClient, readAtMs: number): Promise<ReadOutcome> {
  let resourceVersion: string | undefined;
  for await (const page of client.listFrom(request, { signal: request.signal })) {
    await request.onPage(page);
    resourceVersion = page.resourceVersion === '' ? undefined : page.resourceVersion;
  }
  return { outcome: 'listed', position: resourceVersion, asOfMs: readAtMs };
}

/** The server's newest resource version, and when it was requested. */
export interface Reading {
  readonly resourceVersion: string;
  readonly readAtMs: number;
}

async function catchUp(
  request: CatchUpRequest & { readonly resourceVersion: string },
  client: WatchClient,
  reading: Reading,
): Promise<ReadOutcome> {
  const { resourceVersion, awaitsBookmark = false } = request;
  const now = reading.resourceVersion;
  if (isOlder(now, resourceVersion)) return { outcome: 'future', position: undefined, asOfMs: undefined };
  // Nothing was written since, of any kind.
  if (now === resourceVersion)
    return { outcome: 'caughtUp', position: resourceVersion, asOfMs: reading.readAtMs };
  const timeoutSeconds = awaitsBookmark ? bookmarkWatchSeconds : quickWatchSeconds;
  const end = await client.watch({
    ...request,
    resourceVersion,
    timeoutSeconds,
    // Ending a stream ourselves costs its connection: not worth it for a fraction of a second.
    until: awaitsBookmark ? now : undefined,
    onChanges: (changes) => (changes.length === 0 ? undefined : request.onChanges(changes)),
  });
  const isComplete = includesVersion(end.resourceVersion, now) || wasQuiet(end, timeoutSeconds);
  return { ...toOutcome(end), asOfMs: isComplete ? reading.readAtMs : undefined };
}

/** A watch that lasted its full time without a change: it would have reported anything that happened before it began. */
function wasQuiet({ ended, changes, lastedMs }: WatchEnd, timeoutSeconds: number): boolean {
  return ended === 'server-end' && changes === 0 && lastedMs >= timeoutSeconds * 1000 - earlyEndMs;
}

function toOutcome({ ended, error, resourceVersion }: WatchEnd): Omit<ReadOutcome, 'asOfMs'> {
  if (ended === 'aborted') return { outcome: 'aborted', position: resourceVersion };
  if (error === undefined) return { outcome: 'caughtUp', position: resourceVersion };
  const outcome = findRefusal(error) ?? 'broken';
  return { outcome, position: getResourceVersionAfter(outcome, resourceVersion), error };
}
