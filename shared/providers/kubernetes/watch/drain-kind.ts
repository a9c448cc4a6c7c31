import type { Clock } from '../../../core/clock.ts';
import { includesVersion, isOlder } from '../api/resource-version.ts';
import type { ListPage } from '../client/list-pages.ts';
import { findRefusal, getPositionAfter } from './kind-refusal.ts';
import type { KindScope, WatchChange, WatchEnd } from './watch.ts';
import type { WatchClient } from './watch-client.ts';

/** What to bring up to date. */
export interface DrainRequest extends KindScope {
  /** The resource version up to which everything is known; undefined for nothing: then all is listed. */
  readonly position: string | undefined;
  /**
   * False, the default, for a watch of one second. True for one that stops as soon as the server has told how far it has come:
   * that moves the position of a kind that does not change. It takes one to two seconds, and a new connection the next time.
   */
  readonly awaitsBookmark?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Takes a page of the list; the next one is read when it is done. Mind `ListPage.attempt`. */
  onPage(page: ListPage): void | Promise<void>;
  /** Takes changes, in their order; more are taken from the server when it is done. */
  onChanges(changes: readonly WatchChange[]): void | Promise<void>;
}

/** What a drain came to. */
export interface DrainOutcome {
  /**
   * `listed`: all pages were given, and what is not among them does not exist as of `position`. `drained`: the watch ended as
   * it should. `expired`: the server no longer knows what changed since the position. `future`: the server is behind the
   * position: it is another cluster, or one restored from a backup. `forbidden`: the account may not list or watch the kind.
   * `gone`: the server does not serve it. `broken`, `aborted`: it ended midway.
   */
  readonly outcome: 'listed' | 'drained' | 'expired' | 'future' | 'forbidden' | 'gone' | 'broken' | 'aborted';
  /** Where the next drain begins: everything up to it has been given. Undefined: only a list helps. */
  readonly position: string | undefined;
  /** When everything that was so had been given, wall time in milliseconds; undefined when this drain does not tell. */
  readonly asOfMs: number | undefined;
  /** Objects listed or changes told. */
  readonly count: number;
  /** What the server said or what happened, for `expired`, `forbidden`, `gone` and `broken`. */
  readonly error?: Error | undefined;
}

/** What draining needs. */
export interface DrainTools {
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
 * Tells what changed of a kind since a position, or all there is. Which resource version a position may become, and when an
 * as-of may advance, is told in docs/decisions/0027-positions-of-watches.md.
 *
 * @throws what `onPage` and `onChanges` throw
 */
export async function drainKind(request: DrainRequest, { client, clock }: DrainTools): Promise<DrainOutcome> {
  const { position, signal } = request;
  const readAtMs = clock.now();
  try {
    if (position === undefined) return await listAll(request, { client, readAtMs });
    const resourceVersion = await client.readResourceVersion(request, { signal });
    return await catchUp({ ...request, position }, { client, reading: { resourceVersion, readAtMs } });
  } catch (error) {
    if (signal?.aborted) return { outcome: 'aborted', position, asOfMs: undefined, count: 0 };
    const outcome = findRefusal(error);
    if (outcome === undefined || !(error instanceof Error)) throw error;
    return { outcome, position: getPositionAfter(outcome, position), asOfMs: undefined, count: 0, error };
  }
}

interface Listing {
  readonly client: WatchClient;
  readonly readAtMs: number;
}

async function listAll(request: DrainRequest, { client, readAtMs }: Listing): Promise<DrainOutcome> {
  let position: string | undefined;
  let count = 0;
  let attempt = 1;
  for await (const page of client.listFrom(request, { signal: request.signal })) {
    if (page.attempt > attempt) count = 0;
    attempt = page.attempt;
    await request.onPage(page);
    count += page.items.length;
    position = page.resourceVersion === '' ? undefined : page.resourceVersion;
  }
  return { outcome: 'listed', position, asOfMs: readAtMs, count };
}

/** What the server said is its newest resource version, and when it was asked. */
interface Reading {
  readonly resourceVersion: string;
  readonly readAtMs: number;
}

interface CatchingUp {
  readonly client: WatchClient;
  readonly reading: Reading;
}

async function catchUp(
  request: DrainRequest & { readonly position: string },
  { client, reading }: CatchingUp,
): Promise<DrainOutcome> {
  const { position, awaitsBookmark = false } = request;
  const now = reading.resourceVersion;
  if (isOlder(now, position)) return { outcome: 'future', position: undefined, asOfMs: undefined, count: 0 };
  // Nothing at all was written since, of any kind.
  if (now === position) return { outcome: 'drained', position, asOfMs: reading.readAtMs, count: 0 };
  const timeoutSeconds = awaitsBookmark ? bookmarkWatchSeconds : quickWatchSeconds;
  const end = await client.watch({
    ...request,
    resourceVersion: position,
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

function toOutcome({
  ended,
  error,
  resourceVersion,
  changes: count,
}: WatchEnd): Omit<DrainOutcome, 'asOfMs'> {
  if (ended === 'aborted') return { outcome: 'aborted', position: resourceVersion, count };
  if (error === undefined) return { outcome: 'drained', position: resourceVersion, count };
  const outcome = findRefusal(error) ?? 'broken';
  return { outcome, position: getPositionAfter(outcome, resourceVersion), count, error };
}
