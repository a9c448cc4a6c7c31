import type { Clock } from '#core/clock.ts';
import { includesVersion, isOlder } from '../api/resource-version.ts';
import type { ListPage } from '../client/list-pages.ts';
import { findRefusal, getResourceVersionAfter } from './kind-refusal.ts';
import type { KindScope, WatchChange, WatchEnd } from './watch.ts';
import type { WatchClient } from './watch-client.ts';

/** What to bring up to date. */
export interface CatchUpRequest extends KindScope {
  /** The resource version up to which everything is known; undefined for nothing: then all is listed. */
  readonly resourceVersion: string | undefined;
  /**
   * False, the default, for a watch of one second. True for one that stops as soon as the server has told how far it has come:
   * that moves the resource version of a kind that does not change. It takes one to two seconds, and a new connection the next time.
   */
  readonly awaitsBookmark?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Takes a page of the list; the next one is read when it is done. */
  onPage(page: ListPage): void | Promise<void>;
  /** Takes changes, in their order; more are taken from the server when it is done. */
  onChanges(changes: readonly WatchChange[]): void | Promise<void>;
}

/** What a catch-up came to. */
export interface CatchUpOutcome {
  /**
   * `listed`: all pages were given, and what is not among them does not exist as of `resourceVersion`. `caughtUp`: the watch ended as
   * it should. `expired`: the server no longer knows what changed since the
   * resource version, or the rest of the list. `future`: the server is behind the
   * resourceVersion: it is another cluster, or one restored from a backup. `forbidden`: the account may not list or watch the kind.
   * `gone`: the server does not serve it. `broken`, `aborted`: it ended midway.
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
  /** Where the next catch-up begins: everything up to it has been given. Undefined: only a list helps. */
  readonly resourceVersion: string | undefined;
  /** When everything that was so had been given, wall time in milliseconds; undefined when this catch-up does not tell. */
  readonly asOfMs: number | undefined;
  /** What the server said or what happened, for `expired`, `forbidden`, `gone` and `broken`. */
  readonly error?: Error | undefined;
}

/** What catching up needs. */
export interface CatchUpTools {
  readonly client: WatchClient;
  readonly clock: Clock;
}

/** A server waits for changes no shorter than this. */
const quickWatchSeconds = 1;
/** API servers send a bookmark two seconds before the end of a watch, so one must last longer than that. */
const bookmarkWatchSeconds = 3;
/** A watch that the server ended in time lasted this much less than asked for at most. */
const earlyEndMs = 250;

/**
 * Tells what changed of a kind since a resource version, or all there is. Which resource version a resource version may become, and when an
 * as-of may advance, is told in docs/decisions/0027-positions-of-watches.md.
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

/** What the server said is its newest resource version, and when it was asked. */
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
  // Nothing at all was written since, of any kind.
  if (now === resourceVersion) return { outcome: 'caughtUp', resourceVersion, asOfMs: reading.readAtMs };
  const timeoutSeconds = awaitsBookmark ? bookmarkWatchSeconds : quickWatchSeconds;
  const end = await client.watch({
    ...request,
    resourceVersion,
    timeoutSeconds,
    // A stream that is not ended by the server costs its connection: not worth it for a part of a second.
    until: awaitsBookmark ? now : undefined,
    onChanges: (changes) => (changes.length === 0 ? undefined : request.onChanges(changes)),
  });
  const isComplete = includesVersion(end.resourceVersion, now) || wasQuiet(end, timeoutSeconds);
  return { ...toOutcome(end), asOfMs: isComplete ? reading.readAtMs : undefined };
}

/** A watch that lasted all its time and told no change: whatever had happened before it began it would have told. */
function wasQuiet({ ended, changes, lastedMs }: WatchEnd, timeoutSeconds: number): boolean {
  return ended === 'server-end' && changes === 0 && lastedMs >= timeoutSeconds * 1000 - earlyEndMs;
}

function toOutcome({ ended, error, resourceVersion }: WatchEnd): Omit<CatchUpOutcome, 'asOfMs'> {
  if (ended === 'aborted') return { outcome: 'aborted', resourceVersion };
  if (error === undefined) return { outcome: 'caughtUp', resourceVersion };
  const outcome = findRefusal(error) ?? 'broken';
  return { outcome, resourceVersion: getResourceVersionAfter(outcome, resourceVersion), error };
}
