import type { CachingResult, FollowingRun } from '../../../core/agents/caching-agent.ts';
import type { ObjectChange } from '../cache-writer/object-change.ts';
import { type AgentRunOptions, runCachingAgent } from './agent-run.ts';
import { type CachingWork, openCachingWork } from './caching-work.ts';
import { followScopes } from './follow-scopes.ts';
import { GatheredWrites } from './gathered-writes.ts';
import { isUnwatchable, type WatchedScope } from './kind-scopes.ts';
import { selectWatchedKinds, type WatchedKind } from './watched-kinds.ts';

/** What following an agent needs. */
export interface FollowAgentOptions extends AgentRunOptions {
  /** How often a run catches up with what cannot be watched, milliseconds. */
  readonly intervalMs: number;
  /** Watches at once; default 60, less than the client has connections for. What is beyond is caught up with by runs. */
  readonly maximumWatches?: number | undefined;
}

const defaultMaximumWatches = 60;
/** Runs between which everything is followed are no further apart, milliseconds: they see what no watch tells. */
const runIntervalMs = 5 * 60_000;
/** They are no closer together than that, milliseconds. */
const shortestFollowMs = 5_000;
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
/** Pauses after which changes are written again that could not be, milliseconds. */
const writePausesMs = [500, 2_000] as const;
/** Progress is told no more often than this, milliseconds. */
const tellIntervalMs = 250;

/**
 * Keeps an account cached until it is aborted: a run of the agent brings everything up to date, and from there on watches tell each
 * change. What watches cannot do, a list, another epoch, an eviction, a check, is again a run's: whenever a kind cannot be
 * followed on, a run is due, or the kinds are others.
 *
 * @throws what a run throws, and what keeps changes from being written
 */
export function followCachingAgent(options: FollowAgentOptions, run: FollowingRun): Promise<CachingResult> {
  return new AgentFollowing(options, run).run();
}

class AgentFollowing {
  readonly #options: FollowAgentOptions;
  readonly #run: FollowingRun;
  readonly #troubles = new Map<WatchedScope, string>();
  /** What the run before came to; its changes are those of all before. */
  #last: CachingResult | undefined;
  #isTelling = false;
  /** Runs in a row that could not read something. */
  #incompleteRuns = 0;

  constructor(options: FollowAgentOptions, run: FollowingRun) {
    this.#options = options;
    this.#run = run;
  }

  async run(): Promise<CachingResult> {
    const { signal } = this.#run;
    for (;;) {
      const last = await this.#catchUp();
      if (signal.aborted) return last;
      const startedAtMs = this.#options.clock.monotonic();
      this.#last = await this.#follow(last);
      if (signal.aborted) return this.#last;
      await this.#pause(startedAtMs);
    }
  }

  async #catchUp(): Promise<CachingResult> {
    const { cache, signal, ensureHeld, onProgress, state } = this.#run;
    const { changes: before, ...last } = this.#last ?? { items: 0, changes: 0, state };
    const result = await runCachingAgent(this.#options, {
      cache,
      state: last.state,
      signal,
      ensureHeld,
      isAlone: true,
      // The worker stores it with the next progress.
      commitState: async (text) => onProgress({ ...last, state: text, changes: before }),
    });
    this.#last = { ...result, changes: before + result.changes };
    onProgress(this.#last);
    return this.#last;
  }

  /** Follows what can be, until something else is to be done. @returns how far it has come */
  async #follow(last: CachingResult): Promise<CachingResult> {
    const { cache, signal, ensureHeld } = this.#run;
    const { writer } = this.#options;
    const work = await openCachingWork(this.#options, {
      cache,
      writer,
      signal,
      ensureHeld,
      state: last.state,
    });
    const planned = await work.planScopes();
    const nowMs = this.#options.clock.now();
    const followed = planned
      .filter(({ state }) => state.position !== undefined && !isUnwatchable(state, nowMs))
      .slice(0, this.#options.maximumWatches ?? defaultMaximumWatches);
    this.#troubles.clear();
    const ending = new AbortController();
    const ends = AbortSignal.any([signal, ending.signal]);
    const isWhole = followed.length === planned.length && !this.#needsNamespaces(planned);
    const isUnread = planned.some(({ state }) => state.position === undefined);
    this.#incompleteRuns = isUnread ? this.#incompleteRuns + 1 : 0;
    const reasons = [this.#awaitDue(work, isWhole, ends), this.#awaitOtherKinds(work.kinds, ends)];
    const waiting = reasons.map((reason) => reason.finally(() => ending.abort()));
    try {
      await this.#followAll(work, followed, ends);
      // With nothing to follow the clock alone tells when to run again.
      if (followed.length === 0) await Promise.race(waiting);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      ending.abort();
      await Promise.all(waiting);
    }
    return { ...this.#toProgress(work, last), outcome: 'done' };
  }

  async #followAll(work: CachingWork, scopes: readonly WatchedScope[], signal: AbortSignal): Promise<void> {
    const { clock, randomness, watches } = this.#options;
    const writes = new GatheredWrites({ clock, write: (changes) => this.#write(work, changes) });
    await followScopes(scopes, {
      watches,
      clock,
      randomness,
      conversion: work.tools.conversion,
      signal,
      write: (changes) => writes.write(changes),
      onRead: (scope, read) => {
        work.noteRead(scope, read);
        this.#troubles.delete(scope);
        this.#tell(work, signal);
      },
      onTrouble: (scope, error, failures) => {
        if (failures < toldFailures) return;
        this.#troubles.set(scope, `${scope.kind.kind}: ${error.message}`);
        this.#tell(work, signal);
      },
    });
  }

  /** Whether namespaces are read that no setting names: others may come. */
  #needsNamespaces(planned: readonly WatchedScope[]): boolean {
    return this.#options.account.namespaces.length === 0 && planned.some(({ namespace }) => namespace !== '');
  }

  /** Ends when a run is due. Names that are not used any more are taken away meanwhile: that needs no run. */
  async #awaitDue(work: CachingWork, isWhole: boolean, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const dueMs = Math.min(clock.now() + this.#getIntervalMs(isWhole), work.state.checkAtMs);
    while (clock.now() < dueMs && !signal.aborted) {
      const pauseMs = Math.min(dueMs - clock.now(), pruneIntervalMs);
      await clock.sleep(pauseMs, signal).catch(() => undefined);
      // What cannot be taken away now is left to the next time.
      if (!signal.aborted) await work.prune().catch(() => undefined);
    }
  }

  #getIntervalMs(isWhole: boolean): number {
    const { intervalMs } = this.#options;
    if (this.#incompleteRuns > 0)
      return Math.min(intervalMs, unreadRetryMs * 2 ** (this.#incompleteRuns - 1));
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

  async #write(work: CachingWork, changes: readonly ObjectChange[]): Promise<void> {
    const { signal } = this.#run;
    for (const pauseMs of writePausesMs) {
      try {
        return await work.tools.write(changes);
      } catch (error) {
        if (signal.aborted) throw error;
        await this.#options.clock.sleep(pauseMs, signal);
      }
    }
    await work.tools.write(changes);
  }

  /** So that what fails at once is not begun again at once, and not by all accounts of a cluster together. */
  async #pause(startedAtMs: number): Promise<void> {
    const { clock, randomness } = this.#options;
    const leastMs = Math.max(0, startedAtMs + shortestFollowMs - clock.monotonic());
    const pauseMs = leastMs + spreadMs * randomness.fraction();
    await clock.sleep(pauseMs, this.#run.signal).catch(() => undefined);
  }

  /** Tells how far it has come, a moment later: there may be more by then. */
  #tell(work: CachingWork, signal: AbortSignal): void {
    const { clock } = this.#options;
    const last = this.#last;
    if (this.#isTelling || last === undefined) return;
    this.#isTelling = true;
    const tell = (): void => {
      this.#isTelling = false;
      if (!signal.aborted) this.#run.onProgress(this.#toProgress(work, last));
    };
    clock.sleep(tellIntervalMs, signal).then(tell, tell);
  }

  #toProgress(work: CachingWork, last: CachingResult): Omit<CachingResult, 'outcome'> {
    const [trouble] = this.#troubles.values();
    const progress = work.toProgress();
    return {
      ...progress,
      changes: last.changes + progress.changes,
      error: trouble ?? last.error,
      drift: last.drift,
      details: work.state.tooLarge.addTo(last.details),
    };
  }
}

function toText(kinds: readonly WatchedKind[]): string {
  return kinds
    .map(({ kind, resource: { apiVersion } }) => `${kind} ${apiVersion}`)
    .sort()
    .join();
}
