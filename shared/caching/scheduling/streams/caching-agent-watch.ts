import { untilAborted, waits } from '#core/deadline.ts';
import { getErrorMessage } from '#core/errors.ts';
import { LeaseLostError } from '#tasks/task.ts';
import type { CachingAgent, CachingResult } from '../caching-agent.ts';
import { getRetryDelayMs } from '../caching-agent-schedule.ts';
import {
  type CachingAgentLease,
  type CachingAgentProgress,
  type ClaimedCachingAgent,
  countTooLarge,
  type Finish,
  type StoredCachingAgent,
} from '../caching-agent-store.ts';
import { reportRuns } from '../report-runs.ts';
import { claimCachingAgent, type StreamWorker, streamLeaseMs } from './stream-worker.ts';

/** Milliseconds between two renewals of the lease when there is nothing new to store. */
const renewalMs = streamLeaseMs / 3;

/** Milliseconds between two writes of changes, at least. */
const storeIntervalMs = 5_000;

/** Milliseconds between two writes of positions that moved without a change: they only save work after a death. */
const positionIntervalMs = 60_000;

/** Milliseconds between two checks for something to do. */
const lookIntervalMs = 1_000;

/** Milliseconds between two renewals once a successor was sent for: so soon it notices that the successor has the lease. */
const handOverRenewalMs = 2_000;

/** Milliseconds after that for which both watch: the successor has to connect first. */
const overlapMs = 5_000;

/** Milliseconds that a watch gets to end once it is aborted; then it is abandoned. */
const endGraceMs = 5_000;

/** Milliseconds beyond its pause for which a failed caching agent is left to the worker that saw it fail. */
const revivalGraceMs = 60_000;

type Progress = Omit<CachingResult, 'outcome'>;

/** How a run ends in the store. */
type RunEnd = Pick<Finish, 'outcome' | 'error' | 'nextRunMs'>;

/**
 * Watches a caching agent under one lease, renews it, and stores the progress: changes every five seconds, a newer as-of likewise,
 * positions that moved without a change every minute.
 */
export class CachingAgentWatch {
  readonly account: string;
  readonly #agent: CachingAgent;
  readonly #claimed: ClaimedCachingAgent;
  readonly #worker: StreamWorker;
  readonly #ending = new AbortController();
  #lease: CachingAgentLease;
  #before: StoredCachingAgent;
  readonly #items: number;
  #latest: Progress | undefined;
  #stored: Progress | undefined;
  #storedAtMs: number;
  #stateStoredAtMs: number;
  #renewedAtMs: number;
  /** Whether the outcome that the store shows is out of date. */
  #isOutdated: boolean;
  #isLost = false;
  /** Whether a successor is being sent for. */
  #isHandedOver = false;
  #writing: Promise<void> = Promise.resolve();
  /** The as-of that a request waits for. */
  #wantedMs: number | undefined;
  #prove: (() => Promise<void>) | undefined;
  #isProving = false;
  /** Whether this or an earlier watch or run reported an as-of. */
  #isDated: boolean;

  constructor({
    agent,
    claimed,
    worker,
  }: { readonly agent: CachingAgent; readonly claimed: ClaimedCachingAgent; readonly worker: StreamWorker }) {
    this.account = agent.account;
    this.#agent = agent;
    this.#claimed = claimed;
    this.#worker = worker;
    this.#lease = claimed.lease;
    this.#before = claimed.agent;
    this.#items = claimed.agent.progress?.items ?? claimed.agent.lastRun?.items ?? 0;
    this.#isDated = claimed.agent.asOfMs !== undefined;
    this.#isOutdated = claimed.agent.failures > 0 || claimed.agent.lastRun === undefined;
    this.#renewedAtMs = worker.clock.monotonic();
    this.#storedAtMs = this.#renewedAtMs - storeIntervalMs;
    this.#stateStoredAtMs = this.#renewedAtMs;
  }

  /**
   * Watches until the worker stops, the lease is lost, the configuration changes, or it fails.
   *
   * @returns milliseconds to pause before it is begun again; undefined when it is not ours any more.
   */
  async run(): Promise<number | undefined> {
    const done = new AbortController();
    const keeping = this.#keep(done.signal);
    const failure = await this.#watch();
    done.abort();
    await keeping;
    return this.#isLost ? undefined : this.#finish(failure);
  }

  /** Ends the watch when its caching agent is gone, or another one has replaced it. */
  checkConfigured(): void {
    if (this.#worker.findAgent(this.#agent) !== this.#agent) this.#ending.abort();
  }

  /** Age of its cached data, milliseconds; undefined while unknown. */
  get ageMs(): number | undefined {
    const asOfMs = this.#latest?.asOfMs ?? this.#claimed.agent.asOfMs;
    return asOfMs === undefined ? undefined : this.#worker.clock.now() - asOfMs;
  }

  /** Objects and applications of its account that are too large to be cached. */
  get tooLarge(): number {
    return countTooLarge({
      progress: this.#latest ?? this.#claimed.agent.progress,
      lastRun: this.#claimed.agent.lastRun,
    });
  }

  /**
   * Has it proven that everything that was so at `wantedMs`, wall time in milliseconds, is cached, and stores that at once. What cannot be
   * proven now is proven as soon as possible.
   */
  demand(wantedMs: number): void {
    if (wantedMs <= (this.#stored?.asOfMs ?? 0) || wantedMs <= (this.#wantedMs ?? 0)) return;
    this.#wantedMs = wantedMs;
    this.#meetDemand();
    this.#proveDemand();
  }

  /**
   * Stores its progress, so that a successor continues from there. From then on it keeps its lease without a gap: the successor must find
   * the lease of the worker that sent for it, or else it leaves.
   */
  async flush(): Promise<void> {
    this.#isHandedOver = true;
    await this.#attempt(async () => {
      const latest = this.#latest;
      if (latest !== undefined && latest !== this.#stored) await this.#commit(latest);
    });
  }

  /** The error by which it failed; undefined when it was ended. */
  async #watch(): Promise<{ readonly error: unknown } | undefined> {
    const signal = AbortSignal.any([this.#worker.stop, this.#ending.signal]);
    const { cache } = this.#worker;
    const onProgress = (progress: Progress): void => {
      this.#latest = progress;
      this.#meetDemand();
    };
    const onProvable = (prove: (() => Promise<void>) | undefined): void => {
      this.#prove = prove;
      this.#proveDemand();
    };
    try {
      const ensureHeld = (): void => {
        signal.throwIfAborted();
        this.#ensureHeld();
      };
      const run = { cache, state: await this.#readState(), signal, ensureHeld, onProgress, onProvable };
      const grace = { clock: this.#worker.clock, ms: endGraceMs };
      const result = await untilAborted(this.#agent.watch?.(run), signal, grace);
      if (result !== undefined) this.#latest = result;
      return signal.aborted ? undefined : { error: new Error('it ended although nobody told it to') };
    } catch (error) {
      return signal.aborted ? undefined : { error };
    }
  }

  /** Stores its progress at once, when it meets the demand. */
  #meetDemand(): void {
    const asOfMs = this.#latest?.asOfMs ?? 0;
    // For an account that was never read to its end any as-of is news.
    const isFirst = asOfMs > 0 && !this.#isDated;
    const isMet = this.#wantedMs !== undefined && asOfMs >= this.#wantedMs;
    if (isMet) this.#wantedMs = undefined;
    if (!isFirst && !isMet) return;
    this.#isDated = true;
    void this.#attempt(() => this.#store(true));
  }

  #proveDemand(): void {
    if (this.#wantedMs !== undefined && this.#prove !== undefined && !this.#isProving)
      void this.#proveNow(this.#prove);
  }

  async #proveNow(prove: () => Promise<void>): Promise<void> {
    this.#isProving = true;
    try {
      // A second time, for clocks so different that the first proof was too early.
      for (let tries = 0; tries < 2 && this.#wantedMs !== undefined; tries += 1) await prove();
    } catch (error) {
      this.#warn('how far a watched agent has come could not be proven', error);
    }
    this.#isProving = false;
  }

  /** A lease that can be renewed is waited for: the caller retries the write. */
  #ensureHeld(): void {
    const { clock } = this.#worker;
    const { account, name, validUntil } = this.#lease;
    if (clock.monotonic() < validUntil) return;
    throw new LeaseLostError(`the lease on agent ${name} of ${account} could not be renewed in time`);
  }

  async #readState(): Promise<string | undefined> {
    try {
      return await this.#worker.limit(() => this.#claimed.readState());
    } catch (error) {
      this.#warn('the state of a watched agent cannot be read: it begins anew', error);
      return undefined;
    }
  }

  async #keep(done: AbortSignal): Promise<void> {
    const { clock } = this.#worker;
    while (await waits(clock, lookIntervalMs, done)) {
      // It may have been replaced while it was claimed.
      this.checkConfigured();
      if (this.#ending.signal.aborted) return;
      await this.#attempt(() => this.#store());
      if (!this.#isLost) continue;
      if (this.#worker.relieved.aborted) await waits(clock, overlapMs, done);
      return this.#ending.abort();
    }
  }

  /** One write after the other: a state must not overtake the next one. */
  #attempt(write: () => Promise<void>): Promise<void> {
    this.#writing = this.#writing.then(() => this.#write(write));
    return this.#writing;
  }

  /** An unavailable store costs only time; a lost lease ends the watch. */
  async #write(write: () => Promise<void>): Promise<void> {
    if (this.#isLost) return;
    try {
      await this.#worker.limit(write);
    } catch (error) {
      if (error instanceof LeaseLostError) this.#isLost = true;
      else this.#warn('the progress of a watched agent could not be stored', error);
    }
  }

  async #store(isDemanded = false): Promise<void> {
    const now = this.#worker.clock.monotonic();
    const latest = this.#latest;
    const isDue = isDemanded || now - this.#storedAtMs >= storeIntervalMs;
    if (latest !== undefined && latest !== this.#stored && isDue) {
      const isChanged = latest.changes !== this.#stored?.changes || latest.items !== this.#stored.items;
      const isNews = this.#isOutdated || latest.error !== this.#stored?.error;
      if (isNews && !this.#isHandedOver) return this.#tell(latest);
      if (isChanged || now - this.#stateStoredAtMs >= positionIntervalMs) return this.#commit(latest);
      if (latest.asOfMs !== this.#stored?.asOfMs) return this.#renew(latest);
    }
    if (now - this.#renewedAtMs >= (this.#worker.relieved.aborted ? handOverRenewalMs : renewalMs))
      await this.#renew(undefined);
  }

  async #commit(latest: Progress): Promise<void> {
    await this.#worker.agents.commitState(this.#lease, latest.state, toAgentProgress(latest));
    this.#note(latest);
    this.#stateStoredAtMs = this.#storedAtMs;
  }

  async #renew(latest: Progress | undefined): Promise<void> {
    await this.#worker.agents.renew(this.#lease, latest && toAgentProgress(latest));
    if (latest === undefined) this.#renewedAtMs = this.#worker.clock.monotonic();
    else this.#note(latest);
  }

  /** Ends this run in the store and begins the next: only so other processes see that it works again, or why it does not. */
  async #tell(latest: Progress): Promise<void> {
    const { clock } = this.#worker;
    const { error } = latest;
    const end: RunEnd = {
      outcome: error === undefined ? 'SUCCESS' : 'FAILURE',
      nextRunMs: clock.now() + revivalGraceMs,
      ...(error !== undefined && { error }),
    };
    const agent = await this.#end(latest, end);
    const claimed = await claimCachingAgent(this.#agent, this.#worker);
    if (claimed === undefined) throw new LeaseLostError(`agent ${agent.name} of ${agent.account} was taken`);
    this.#lease = claimed.lease;
    this.#isOutdated = false;
    await this.#renew(latest);
    this.#stateStoredAtMs = this.#storedAtMs;
  }

  #note(latest: Progress): void {
    this.#stored = latest;
    this.#storedAtMs = this.#worker.clock.monotonic();
    this.#renewedAtMs = this.#storedAtMs;
  }

  async #finish(failure: { readonly error: unknown } | undefined): Promise<number | undefined> {
    const { clock, randomness, relieved } = this.#worker;
    const isFailed = failure !== undefined && this.#worker.isAway?.(failure.error) !== true;
    const failures = this.#before.failures + 1;
    const pauseMs = isFailed ? Math.ceil(getRetryDelayMs(failures, randomness.fraction())) : 0;
    const end: RunEnd = {
      outcome: isFailed ? 'FAILURE' : 'STOPPED',
      nextRunMs: clock.now() + (isFailed ? pauseMs + revivalGraceMs : 0),
      ...(isFailed && { error: getErrorMessage(failure.error) }),
    };
    await this.#attempt(async () => {
      await this.#end(this.#latest, end);
    });
    return this.#isLost || relieved.aborted ? undefined : pauseMs;
  }

  async #end(latest: Progress | undefined, end: RunEnd): Promise<StoredCachingAgent> {
    const { startedAtMs, lagMs } = this.#lease;
    const durationMs = Math.max(0, this.#worker.clock.now() - startedAtMs);
    const progress =
      latest === undefined
        ? { items: this.#items, changes: 0 }
        : { ...toAgentProgress(latest), state: latest.state };
    const agent = await this.#worker.agents.finish(this.#lease, { ...progress, durationMs, ...end });
    await reportRuns(this.#worker, [{ before: this.#before, agent, lagMs, error: end.error }]);
    this.#before = agent;
    return agent;
  }

  #warn(message: string, error: unknown): void {
    const { account, name: agent } = this.#agent;
    this.#worker.log.warn(message, { account, agent, error });
  }
}

function toAgentProgress({ items, changes, asOfMs, drift, details }: Progress): CachingAgentProgress {
  return { items, changes, asOfMs, drift, details };
}
