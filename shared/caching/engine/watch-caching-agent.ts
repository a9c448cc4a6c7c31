import { getLongestPauseMs, getRandomMs, retry } from '#core/back-off.ts';
import { onceAborted } from '#core/deadline.ts';
import type { CachingResult, WatchRun } from '../scheduling/caching-agent.ts';
import { watchesMax } from '../scheduling/choose-modes.ts';
import type { ObjectChange } from '../writer/object-change.ts';
import { type CachingSession, type CachingSessionOptions, openCachingSession } from './caching-session.ts';
import { ChangeRate } from './change-rate.ts';
import { isOutdated } from './comparison.ts';
import { GatheredWrites } from './gathered-writes.ts';
import { isUnwatchable, type StatedScope } from './kind-scopes.ts';
import { Outbox } from './outbox.ts';
import type { ScopedKind } from './scope-source.ts';
import { runCachingAgent } from './scoped-run.ts';
import { watchScopes } from './watch-scopes.ts';

/** Options of watching for a caching agent. */
export interface WatchCachingAgentOptions<Facts> extends CachingSessionOptions<Facts> {
  /** How often a run catches up with scopes that cannot be watched, milliseconds. */
  readonly intervalMs: number;
  /** Whether changes are sent to a remote writer: the changes that wait for it then have their own bounds. Default: false. */
  readonly isDistant?: boolean | undefined;
}

/** The longest time between two runs while everything is watched, milliseconds: runs see what no watch reports. */
const runIntervalMs = 5 * 60_000;
/** The shortest time between two runs, milliseconds. */
const shortestWatchMs = 5_000;
/** Delay before a served kind that could not be read (such as a new custom one) is read again, milliseconds; it doubles each time. */
const unreadRetryMs = 2_000;
/** How often to check the directory for unused names, milliseconds. */
const pruneIntervalMs = 30_000;
/** Simultaneous work of a platform's many accounts is spread over this time, milliseconds. */
const spreadMs = 2_000;
/** Failures in a row after which a kind that cannot be watched is reported: a restart of the platform causes fewer. */
const toldFailures = 6;
/** Tries to write changes, and the pauses between them: nothing else would write these. */
const writeTriesMax = 3;
const writeBackOff = { firstMs: 500, growth: 4, fixedShare: 1 };
/** The shortest time between two reports of progress, milliseconds. */
const tellIntervalMs = 250;

/**
 * Keeps an account cached until it is aborted: a run of the caching agent brings everything up to date, and from then on watches report
 * each change. A run does what watches cannot do: a list, another epoch, an eviction, a check. It takes place when a watch cannot continue,
 * when it is due, and when the kinds change.
 *
 * @throws what a run throws, and errors of writing changes
 */
export function watchCachingAgent<Facts>(
  options: WatchCachingAgentOptions<Facts>,
  run: WatchRun,
): Promise<CachingResult> {
  return new AgentWatch(options, run).run();
}

class AgentWatch<Facts> {
  readonly #options: WatchCachingAgentOptions<Facts>;
  readonly #run: WatchRun;
  readonly #troubles = new Map<StatedScope, string>();
  /** The result of the last run or watch; its changes include all before. */
  #last: CachingResult;
  #isTelling = false;
  /** Consecutive runs that could not read something. */
  #incompleteRuns = 0;
  readonly #rate = new ChangeRate();
  /** Changes of the current watches that the rate includes. */
  #ratedChanges = 0;

  constructor(options: WatchCachingAgentOptions<Facts>, run: WatchRun) {
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

  /** Watches what can be watched, until there is something else to do. @returns its progress */
  async #watch(): Promise<CachingResult> {
    const { signal } = this.#run;
    const session = await openCachingSession(this.#options, { ...this.#run, state: this.#last.state });
    const planned = await session.planScopes();
    const nowMs = this.#options.clock.now();
    const watched = planned
      .filter(({ state }) => state.position !== undefined && !isUnwatchable(state, nowMs))
      // Fewer than the client has connections. Runs catch up with the scopes beyond.
      .slice(0, watchesMax);
    this.#troubles.clear();
    this.#ratedChanges = 0;
    const ending = new AbortController();
    const ends = AbortSignal.any([signal, ending.signal]);
    const { findsLocations } = this.#options.source;
    const isWhole =
      watched.length === planned.length &&
      !(findsLocations && planned.some(({ location }) => location !== ''));
    const isUnread = planned.some(({ state }) => state.position === undefined);
    this.#incompleteRuns = isUnread ? this.#incompleteRuns + 1 : 0;
    const reasons = [this.#awaitDue(session, isWhole, ends), this.#awaitOtherKinds(session.kinds, ends)];
    const waiting = reasons.map((reason) => reason.finally(() => ending.abort()));
    const provers: Prover[] = [];
    // A run brings up to date what is not watched.
    const end = (): void => ending.abort();
    const prove = isWhole && !isUnread ? () => this.#prove(session, provers, end) : async () => end();
    try {
      const watching = this.#watchAll(session, { scopes: watched, provers, signal: ends });
      this.#run.onProvable?.(prove);
      await watching;
      // With nothing to watch only the clock decides when to run again.
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

  /** Proves how current all watched scopes are, and reports it; ends the watch if a run has something else to do. */
  async #prove(session: CachingSession<Facts>, provers: readonly Prover[], end: () => void): Promise<void> {
    const [current] = await Promise.all([
      this.#run.cache.getEpoch(this.#options.account),
      ...provers.map((prove) => prove()),
    ]);
    this.#run.onProgress(this.#toProgress(session));
    if (isOutdated(session.state, current)) end();
  }

  async #watchAll(session: CachingSession<Facts>, { scopes, provers, signal }: Watching): Promise<void> {
    const { clock, model } = this.#options;
    const outbox = this.#options.isDistant ? new Outbox(clock, model) : undefined;
    const writes = new GatheredWrites<Facts>({
      clock,
      write: (changes) => this.#write(session, changes),
      getDelayMs: outbox && (() => outbox.delayMs),
    });
    await watchScopes(scopes, {
      source: session.tools.source,
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

  /** Ends when a run is due. Meanwhile removes unused names, which needs no run. */
  async #awaitDue(session: CachingSession<Facts>, isWhole: boolean, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const dueMs = Math.min(clock.now() + this.#getIntervalMs(isWhole), session.state.checkAtMs);
    while (clock.now() < dueMs && !signal.aborted) {
      const pauseMs = Math.min(dueMs - clock.now(), pruneIntervalMs);
      await clock.sleep(pauseMs, signal).catch(() => undefined);
      // What cannot be removed now is left for next time.
      if (!signal.aborted) await session.prune().catch(() => undefined);
    }
  }

  #getIntervalMs(isWhole: boolean): number {
    const { intervalMs } = this.#options;
    if (this.#incompleteRuns > 0)
      return getLongestPauseMs({ firstMs: unreadRetryMs, mostMs: intervalMs }, this.#incompleteRuns);
    return isWhole ? runIntervalMs : intervalMs;
  }

  /** Ends when the platform serves kinds other than these. */
  async #awaitOtherKinds(kinds: readonly ScopedKind[], signal: AbortSignal): Promise<void> {
    const { clock, source } = this.#options;
    const known = toText(kinds);
    let isSame = true;
    while (isSame && !signal.aborted) {
      await clock.sleep(source.kindsIntervalMs, signal).catch(() => undefined);
      // If this fails, the watches find out why.
      const served = await source.selectKinds(signal).catch(() => kinds);
      isSame = toText(served) === known;
    }
  }

  async #write(session: CachingSession<Facts>, changes: readonly ObjectChange<Facts>[]): Promise<void> {
    const { signal } = this.#run;
    const { clock, randomness } = this.#options;
    const options = { backOff: writeBackOff, triesMax: writeTriesMax, clock, randomness, signal };
    await retry(options, () => session.tools.write(changes));
  }

  /** Keeps what fails at once from being retried at once, and by all accounts of a platform together. */
  async #pause(startedAtMs: number): Promise<void> {
    const { clock, randomness } = this.#options;
    const leastMs = Math.max(0, startedAtMs + shortestWatchMs - clock.monotonic());
    const pauseMs = leastMs + getRandomMs(spreadMs, randomness);
    await clock.sleep(pauseMs, this.#run.signal).catch(() => undefined);
  }

  /** Reports the progress a moment later: there may be more by then. */
  #tell(session: CachingSession<Facts>, signal: AbortSignal): void {
    const { clock } = this.#options;
    if (this.#isTelling) return;
    this.#isTelling = true;
    const tell = (): void => {
      this.#isTelling = false;
      if (!signal.aborted) this.#run.onProgress(this.#toProgress(session));
    };
    clock.sleep(tellIntervalMs, signal).then(tell, tell);
  }

  #toProgress(session: CachingSession<Facts>): Omit<CachingResult, 'outcome'> {
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

/** What is watched, and until when. */
interface Watching {
  readonly scopes: readonly StatedScope[];
  /** Receives what proves how current each scope is. */
  readonly provers: Prover[];
  readonly signal: AbortSignal;
}

/** Proves how current one scope is. */
type Prover = () => Promise<void>;

function toText(kinds: readonly ScopedKind[]): string {
  return kinds
    .map(({ id }) => id)
    .sort()
    .join();
}
