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

/** The outcome of a catch-up. */
export interface CatchUpOutcome {
  /**
   * `listed`: all pages were passed on, and other objects do not exist as of `resourceVersion`. `caughtUp`: the watch ended normally.
   * `expired`: the server has forgotten the changes since the resource version, or the rest of the list. `future`: the server is behind the
   * resourceVersion: it is another cluster, or one restored from a backup. `forbidden`: the account may not list or watch the kind. `gone`:
   * the server does not serve it. `broken`, `aborted`: it ended midway.
   */
  readonly outcome:
    | 'listed'
    | 'caughtUp'
    | 'expired'
    | 'future'
    | 'forbidden'
    | 'gone'
    | 'broken'
    | 'aborted';
  /** Where the next catch-up begins: everything up to it has been passed on. Undefined if only a list helps. */
  readonly resourceVersion: string | undefined;
  /** Everything up to this time was passed on, wall time in milliseconds; undefined if this catch-up does not show it. */
  readonly asOfMs: number | undefined;
  /** The server's or the connection's error, for `expired`, `forbidden`, `gone` and `broken`. */
  readonly error?: Error | undefined;
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
): Promise<CatchUpOutcome> {
  const { resourceVersion, signal } = request;
  const readAtMs = clock.now();
  try {
    if (resourceVersion === undefined) return await listAll(request, client, readAtMs);
    const newest = await client.readResourceVersion(request, { signal });
    return await catchUp({ ...request, resourceVersion }, client, { resourceVersion: newest, readAtMs });
  } catch (error) {
    if (signal?.aborted) return { outcome: 'aborted', resourceVersion, asOfMs: undefined };
    const outcome = findRefusal(error);
    if (outcome === undefined || !(error instanceof Error)) throw error;
    return {
      outcome,
      resourceVersion: getResourceVersionAfter(outcome, resourceVersion),
      asOfMs: undefined,
      error,
    };
  }
}

async function listAll(
  request: CatchUpRequest,
  client: WatchClient,
  readAtMs: number,
): Promise<CatchUpOutcome> {
  let resourceVersion: string | undefined;
  for await (const page of client.listFrom(request, { signal: request.signal })) {
    await request.onPage(page);
    resourceVersion = page.resourceVersion === '' ? undefined : page.resourceVersion;
  }
  return { outcome: 'listed', resourceVersion, asOfMs: readAtMs };
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
): Promise<CatchUpOutcome> {
  const { resourceVersion, awaitsBookmark = false } = request;
  const now = reading.resourceVersion;
  if (isOlder(now, resourceVersion))
    return { outcome: 'future', resourceVersion: undefined, asOfMs: undefined };
  // Nothing was written since, of any kind.
  if (now === resourceVersion) return { outcome: 'caughtUp', resourceVersion, asOfMs: reading.readAtMs };
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

function toOutcome({ ended, error, resourceVersion }: WatchEnd): Omit<CatchUpOutcome, 'asOfMs'> {
  if (ended === 'aborted') return { outcome: 'aborted', resourceVersion };
  if (error === undefined) return { outcome: 'caughtUp', resourceVersion };
  const outcome = findRefusal(error) ?? 'broken';
  return { outcome, resourceVersion: getResourceVersionAfter(outcome, resourceVersion), error };
}
