import type { CachingResult, WatchRun } from '#caching/scheduling/caching-agent.ts';
import { watchesMax } from '#caching/scheduling/choose-modes.ts';
import { getLongestPauseMs, getRandomMs, retry } from '#core/back-off.ts';
import { onceAborted } from '#core/deadline.ts';
import type { ObjectChange } from '../cache-writer/object-change.ts';
import type { KindProver } from '../watch/watch-kind.ts';
import { runCachingAgent } from './caching-agent-run.ts';
import { type CachingSession, type CachingSessionOptions, openCachingSession } from './caching-session.ts';
import { ChangeRate } from './change-rate.ts';
import { isOutdated } from './comparison.ts';
import { GatheredWrites } from './gathered-writes.ts';
import { isUnwatchable, type WatchedScope } from './kind-scopes.ts';
import { Outbox } from './outbox.ts';
import { watchScopes } from './watch-scopes.ts';
import { selectWatchedKinds, type WatchedKind } from './watched-kinds.ts';

/** What watching an agent needs. */
export interface WatchCachingAgentOptions extends CachingSessionOptions {
  /** How often a run catches up with what cannot be watched, milliseconds. */
  readonly intervalMs: number;
  /** Watches at once; default `watchesMax`, less than the client has connections for. What is beyond is caught up with by runs. */
  readonly maximumWatches?: number | undefined;
  /** Whether what writes changes is far away: then what waits for it has bounds of its own. Default: false. */
  readonly isDistant?: boolean | undefined;
}

/** Runs between which everything is watched are no further apart, milliseconds: they see what no watch tells. */
const runIntervalMs = 5 * 60_000;
/** They are no closer together than that, milliseconds. */
const shortestWatchMs = 5_000;
/** What could not be read although the cluster serves it, as a kind that has just been defined, is read again after this long, then after twice as long … */
const unreadRetryMs = 2_000;
/** How often the kinds that the cluster serves are looked at where they change, milliseconds. */
const kindsIntervalMs = 30_000;
/** How often the directory is looked at for what is not used any more, milliseconds. */
const pruneIntervalMs = 30_000;
/** What many accounts of a cluster have to do at the same time is spread over so long, milliseconds. */
const spreadMs = 2_000;
/** Failures in a row after which a kind that cannot be watched is told of: while an API server restarts there are fewer. */
const toldFailures = 6;
/** Tries to write changes, and the pauses between them: nobody else writes these. */
const writeTriesMax = 3;
const writeBackOff = { firstMs: 500, growth: 4, fixedShare: 1 };
/** Progress is told no more often than this, milliseconds. */
const tellIntervalMs = 250;

/**
 * Keeps an account cached until it is aborted: a run of the agent brings everything up to date, and from there on watches tell each
 * change. What watches cannot do, a list, another epoch, an eviction, a check, is again a run's: whenever a kind cannot be
 * watched on, a run is due, or the kinds are others.
 *
 * @throws what a run throws, and what keeps changes from being written
 */
export function watchCachingAgent(options: WatchCachingAgentOptions, run: WatchRun): Promise<CachingResult> {
  return new AgentWatch(options, run).run();
}

class AgentWatch {
  readonly #options: WatchCachingAgentOptions;
  readonly #run: WatchRun;
  readonly #troubles = new Map<WatchedScope, string>();
  /** What the last run, or watch, came to; its changes are those of all before. */
  #last: CachingResult;
  #isTelling = false;
  /** Runs in a row that could not read something. */
  #incompleteRuns = 0;
  readonly #rate = new ChangeRate();
  /** Changes of the present watches that are in the rate. */
  #ratedChanges = 0;

  constructor(options: WatchCachingAgentOptions, run: WatchRun) {
    this.#options = options;
    this.#run = run;
    this.#last = { outcome: 'done', state: run.state ?? '', items: 0, changes: 0 };
  }

  async run(): Promise<CachingResult> {
    const { signal } = this.#run;
    for (;;) {
      await this.#catchUp();
      if (signal.aborted) return this.#last;
      const startedAtMs = this.#options.clock.monotonic();
      this.#last = await this.#watch();
      if (signal.aborted) return this.#last;
      await this.#pause(startedAtMs);
    }
  }

  async #catchUp(): Promise<void> {
    const { onProgress } = this.#run;
    const last = this.#last;
    const result = await runCachingAgent(this.#options, {
      ...this.#run,
      state: last.state,
      isAlone: true,
      // The worker stores it with the next progress.
      commitState: async (
        text,
        { items, changes, details = last.details } = { items: last.items, changes: 0 },
      ) => onProgress({ ...last, items, changes: last.changes + changes, details, state: text }),
    });
    this.#last = { ...result, changes: last.changes + result.changes };
    onProgress(this.#last);
  }

  /** Watches what can be, until something else is to be done. @returns how far it has come */
  async #watch(): Promise<CachingResult> {
    const { signal } = this.#run;
    const session = await openCachingSession(this.#options, { ...this.#run, state: this.#last.state });
    const planned = await session.planScopes();
    const nowMs = this.#options.clock.now();
    const watched = planned
      .filter(({ state }) => state.resourceVersion !== undefined && !isUnwatchable(state, nowMs))
      .slice(0, this.#options.maximumWatches ?? watchesMax);
    this.#troubles.clear();
    this.#ratedChanges = 0;
    const ending = new AbortController();
    const ends = AbortSignal.any([signal, ending.signal]);
    const isWhole = watched.length === planned.length && !this.#needsNamespaces(planned);
    const isUnread = planned.some(({ state }) => state.resourceVersion === undefined);
    this.#incompleteRuns = isUnread ? this.#incompleteRuns + 1 : 0;
    const reasons = [this.#awaitDue(session, isWhole, ends), this.#awaitOtherKinds(session.kinds, ends)];
    const waiting = reasons.map((reason) => reason.finally(() => ending.abort()));
    const provers: KindProver[] = [];
    // What is not watched is brought up to date by a run.
    const end = (): void => ending.abort();
    const prove = isWhole && !isUnread ? () => this.#prove(session, provers, end) : async () => end();
    try {
      const watching = this.#watchAll(session, { scopes: watched, provers, signal: ends });
      this.#run.onProvable?.(prove);
      await watching;
      // With nothing to watch the clock alone tells when to run again.
      if (watched.length === 0) await onceAborted(ends);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      this.#run.onProvable?.(undefined);
      ending.abort();
      await Promise.all(waiting);
    }
    return { ...this.#toProgress(session), outcome: 'done' };
  }

  /** Proves of all that is watched how far it has come, and tells that; ends the watch where a run has something else to do. */
  async #prove(session: CachingSession, provers: readonly KindProver[], end: () => void): Promise<void> {
    const [current] = await Promise.all([
      this.#run.cache.getEpoch(this.#options.account.name),
      ...provers.map((prove) => prove()),
    ]);
    this.#run.onProgress(this.#toProgress(session));
    if (isOutdated(session.state, current)) end();
  }

  async #watchAll(session: CachingSession, { scopes, provers, signal }: Watching): Promise<void> {
    const { clock, randomness, watches } = this.#options;
    const outbox = this.#options.isDistant ? new Outbox(clock) : undefined;
    const writes = new GatheredWrites({
      clock,
      write: (changes) => this.#write(session, changes),
      getDelayMs: outbox && (() => outbox.delayMs),
    });
    await watchScopes(scopes, {
      watches,
      clock,
      randomness,
      conversion: session.tools.conversion,
      signal,
      write: (changes) => outbox?.hold(changes, () => writes.write(changes)) ?? writes.write(changes),
      isFull: () => outbox?.isFull === true,
      onRead: (scope, read) => {
        session.recordRead(scope, read);
        this.#troubles.delete(scope);
        this.#tell(session, signal);
      },
      onProvable: (prove) => void provers.push(prove),
      onTrouble: (scope, error, failures) => {
        if (failures < toldFailures) return;
        this.#troubles.set(scope, `${scope.kind.kind}: ${error.message}`);
        this.#tell(session, signal);
      },
    });
  }

  /** Whether namespaces are read that no setting names: others may come. */
  #needsNamespaces(planned: readonly WatchedScope[]): boolean {
    return this.#options.account.namespaces.length === 0 && planned.some(({ namespace }) => namespace !== '');
  }

  /** Ends when a run is due. Names that are not used any more are taken away meanwhile: that needs no run. */
  async #awaitDue(session: CachingSession, isWhole: boolean, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const dueMs = Math.min(clock.now() + this.#getIntervalMs(isWhole), session.state.checkAtMs);
    while (clock.now() < dueMs && !signal.aborted) {
      const pauseMs = Math.min(dueMs - clock.now(), pruneIntervalMs);
      await clock.sleep(pauseMs, signal).catch(() => undefined);
      // What cannot be taken away now is left to the next time.
      if (!signal.aborted) await session.prune().catch(() => undefined);
    }
  }

  #getIntervalMs(isWhole: boolean): number {
    const { intervalMs } = this.#options;
    if (this.#incompleteRuns > 0)
      return getLongestPauseMs({ firstMs: unreadRetryMs, mostMs: intervalMs }, this.#incompleteRuns);
    return isWhole ? runIntervalMs : intervalMs;
  }

  /** Ends when the cluster serves other kinds than these. */
  async #awaitOtherKinds(kinds: readonly WatchedKind[], signal: AbortSignal): Promise<void> {
    const { clock, family } = this.#options;
    const intervalMs = family === 'custom' ? kindsIntervalMs : runIntervalMs;
    const known = toText(kinds);
    let isSame = true;
    while (isSame && !signal.aborted) {
      await clock.sleep(intervalMs, signal).catch(() => undefined);
      // When that fails, those that watch find out why.
      const served = await selectWatchedKinds({ ...this.#options, signal }, family).catch(() => kinds);
      isSame = toText(served) === known;
    }
  }

  async #write(session: CachingSession, changes: readonly ObjectChange[]): Promise<void> {
    const { signal } = this.#run;
    const { clock, randomness } = this.#options;
    const options = { backOff: writeBackOff, triesMax: writeTriesMax, clock, randomness, signal };
    await retry(options, () => session.tools.write(changes));
  }

  /** So that what fails at once is not begun again at once, and not by all accounts of a cluster together. */
  async #pause(startedAtMs: number): Promise<void> {
    const { clock, randomness } = this.#options;
    const leastMs = Math.max(0, startedAtMs + shortestWatchMs - clock.monotonic());
    const pauseMs = leastMs + getRandomMs(spreadMs, randomness);
    await clock.sleep(pauseMs, this.#run.signal).catch(() => undefined);
  }

  /** Tells how far it has come, a moment later: there may be more by then. */
  #tell(session: CachingSession, signal: AbortSignal): void {
    const { clock } = this.#options;
    if (this.#isTelling) return;
    this.#isTelling = true;
    const tell = (): void => {
      this.#isTelling = false;
      if (!signal.aborted) this.#run.onProgress(this.#toProgress(session));
    };
    clock.sleep(tellIntervalMs, signal).then(tell, tell);
  }

  #toProgress(session: CachingSession): Omit<CachingResult, 'outcome'> {
    const last = this.#last;
    const [trouble] = this.#troubles.values();
    const progress = session.toProgress();
    this.#rate.add(progress.changes - this.#ratedChanges, this.#options.clock.monotonic());
    this.#ratedChanges = progress.changes;
    return {
      ...progress,
      changes: last.changes + progress.changes,
      error: trouble ?? last.error,
      drift: last.drift,
      details: session.state.tooLarge.addTo({ ...last.details, changesPerSecond: this.#rate.perSecond }),
    };
  }
}

/** What is watched, until when. */
interface Watching {
  readonly scopes: readonly WatchedScope[];
  /** Takes what proves how far each of them has come. */
  readonly provers: KindProver[];
  readonly signal: AbortSignal;
}

function toText(kinds: readonly WatchedKind[]): string {
  return kinds
    .map(({ kind, resource: { apiVersion } }) => `${kind} ${apiVersion}`)
    .sort()
    .join();
}
