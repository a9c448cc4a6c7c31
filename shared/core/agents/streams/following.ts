import { getErrorMessage } from '../../errors.ts';
import { LeaseLostError } from '../../tasks/task.ts';
import { getRetryDelayMs } from '../agent-schedule.ts';
import {
  type Agent,
  type AgentLease,
  type AgentProgress,
  type ClaimedAgent,
  countTooLarge,
  type Finish,
} from '../agent-store.ts';
import type { CachingAgent, CachingResult, FollowingRun } from '../caching-agent.ts';
import { reportRuns } from '../report-runs.ts';
import { claimAgent, type StreamWorker, streamLeaseMs } from './stream-worker.ts';

/** Milliseconds between two renewals of it when there is nothing new to store. */
const renewalMs = streamLeaseMs / 3;

/** What changed is stored this often at most, milliseconds. */
const storeIntervalMs = 5_000;

/** Positions that moved without a change are stored this often, milliseconds: they only save work after a death. */
const positionIntervalMs = 60_000;

/** How often it is looked whether there is something to do, milliseconds. */
const lookIntervalMs = 1_000;

/** The same for the lease once a successor was sent for: so soon it is noticed that he has taken it. */
const handOverRenewalMs = 2_000;

/** For so long after that both follow, milliseconds: the successor has to connect first. */
const overlapMs = 5_000;

/** What does not end in so many milliseconds after it was told to is left behind. */
const endGraceMs = 5_000;

/** So much longer than its pause an agent is left to the worker that has seen it fail, milliseconds. */
const revivalGraceMs = 60_000;

/** How following ended: the agent is none of ours any more, or is to be begun again after a pause. */
export type FollowingEnd = { readonly isOver: true } | { readonly isOver: false; readonly pauseMs: number };

const over: FollowingEnd = { isOver: true };

type Progress = Omit<CachingResult, 'outcome'>;

/** How a run ends in the store. */
type RunEnd = Pick<Finish, 'outcome' | 'error' | 'nextRunMs'>;

/** What following is about. */
export interface FollowingOptions {
  readonly agent: CachingAgent;
  readonly claimed: ClaimedAgent;
  readonly worker: StreamWorker;
}

/**
 * Follows an agent under one lease, which it keeps, and stores how far that has come: changes every five seconds, a newer as-of
 * likewise, positions that moved without a change every minute.
 */
export class Following {
  readonly #agent: CachingAgent;
  readonly #claimed: ClaimedAgent;
  readonly #worker: StreamWorker;
  readonly #ending = new AbortController();
  #lease: AgentLease;
  #before: Agent;
  readonly #items: number;
  #latest: Progress | undefined;
  #stored: Progress | undefined;
  #storedAtMs: number;
  #stateStoredAtMs: number;
  #renewedAtMs: number;
  /** The outcome that the store shows is that of an earlier time. */
  #isOutdated: boolean;
  #isLost = false;
  #writing: Promise<void> = Promise.resolve();

  constructor({ agent, claimed, worker }: FollowingOptions) {
    this.#agent = agent;
    this.#claimed = claimed;
    this.#worker = worker;
    this.#lease = claimed.lease;
    this.#before = claimed.agent;
    this.#items = claimed.agent.progress?.items ?? claimed.agent.lastRun?.items ?? 0;
    this.#isOutdated = claimed.agent.failures > 0 || claimed.agent.lastRun === undefined;
    this.#renewedAtMs = worker.clock.monotonic();
    this.#storedAtMs = this.#renewedAtMs - storeIntervalMs;
    this.#stateStoredAtMs = this.#renewedAtMs;
  }

  /** Follows until the worker stops, the lease is lost, the agent is configured otherwise, or it fails. */
  async run(): Promise<FollowingEnd> {
    const done = new AbortController();
    const keeping = this.#keep(done.signal);
    const failure = await this.#follow();
    done.abort();
    await keeping;
    return this.#isLost ? over : this.#finish(failure);
  }

  /** How old what it has cached is, milliseconds; undefined as long as that is not known. */
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

  /** Stores how far it has come, so that a successor goes on from there. */
  async flush(): Promise<void> {
    const latest = this.#latest;
    if (latest === undefined || latest === this.#stored) return;
    await this.#attempt(() => this.#commit(latest));
  }

  /** What it failed by; undefined when it was ended. */
  async #follow(): Promise<{ readonly error: unknown } | undefined> {
    const signal = AbortSignal.any([this.#worker.stop, this.#ending.signal]);
    const { cache } = this.#worker;
    const onProgress = (progress: Progress): void => {
      this.#latest = progress;
    };
    try {
      const ensureHeld = (): void => {
        signal.throwIfAborted();
        this.#ensureHeld();
      };
      const run = { cache, state: await this.#readState(), signal, ensureHeld, onProgress };
      const result = await this.#waitFor(run, signal);
      if (result !== undefined) this.#latest = result;
      return signal.aborted ? undefined : { error: new Error('it ended although nobody told it to') };
    } catch (error) {
      return signal.aborted ? undefined : { error };
    }
  }

  /** A lease that can be renewed is waited for: what is written is tried again. */
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
      this.#warn('the state of a followed agent cannot be read: it begins anew', error);
      return undefined;
    }
  }

  /** What following comes to; undefined when it does not end though it was told to. */
  async #waitFor(run: FollowingRun, signal: AbortSignal): Promise<CachingResult | undefined> {
    const { clock } = this.#worker;
    const ended = new AbortController();
    const patience = untilAborted(AbortSignal.any([signal, ended.signal]))
      .then(() => clock.sleep(endGraceMs, ended.signal))
      .catch(() => undefined);
    try {
      return (await Promise.race([this.#agent.follow?.(run), patience])) ?? undefined;
    } finally {
      ended.abort();
    }
  }

  async #keep(done: AbortSignal): Promise<void> {
    const { clock } = this.#worker;
    while (await sleeps(clock.sleep(lookIntervalMs, done))) {
      if (this.#worker.findAgent(this.#agent) !== this.#agent) return this.#ending.abort();
      await this.#attempt(() => this.#store());
      if (!this.#isLost) continue;
      if (this.#worker.relieved.aborted) await sleeps(clock.sleep(overlapMs, done));
      return this.#ending.abort();
    }
  }

  /** One write after the other: a state must not overtake the next one. */
  #attempt(write: () => Promise<void>): Promise<void> {
    this.#writing = this.#writing.then(() => this.#write(write));
    return this.#writing;
  }

  /** A store that is away costs nothing but time; a lease that was lost ends it. */
  async #write(write: () => Promise<void>): Promise<void> {
    if (this.#isLost) return;
    try {
      await this.#worker.limit(write);
    } catch (error) {
      if (error instanceof LeaseLostError) this.#isLost = true;
      else this.#warn('the progress of a followed agent could not be stored', error);
    }
  }

  async #store(): Promise<void> {
    const now = this.#worker.clock.monotonic();
    const latest = this.#latest;
    if (latest !== undefined && latest !== this.#stored && now - this.#storedAtMs >= storeIntervalMs) {
      const isChanged = latest.changes !== this.#stored?.changes || latest.items !== this.#stored.items;
      if (this.#isOutdated || latest.error !== this.#stored?.error) return this.#tell(latest);
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

  /** Ends this run in the store and begins the next: only so others see that it works again, or why it does not. */
  async #tell(latest: Progress): Promise<void> {
    const { clock } = this.#worker;
    const { error } = latest;
    const end: RunEnd = {
      outcome: error === undefined ? 'SUCCESS' : 'FAILURE',
      nextRunMs: clock.now() + revivalGraceMs,
      ...(error !== undefined && { error }),
    };
    const agent = await this.#end(this.#toFinish(latest, end));
    const claimed = await claimAgent(this.#agent, this.#worker);
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

  async #finish(failure: { readonly error: unknown } | undefined): Promise<FollowingEnd> {
    const { clock, randomness, relieved } = this.#worker;
    const pauseMs =
      failure === undefined ? 0 : getRetryDelayMs(this.#before.failures + 1, randomness.fraction());
    const end: RunEnd =
      failure === undefined
        ? { outcome: 'STOPPED', nextRunMs: clock.now() }
        : {
            outcome: 'FAILURE',
            error: getErrorMessage(failure.error),
            nextRunMs: clock.now() + pauseMs + revivalGraceMs,
          };
    await this.#attempt(async () => {
      await this.#end(this.#toFinish(this.#latest, end));
    });
    return this.#isLost || relieved.aborted ? over : { isOver: false, pauseMs };
  }

  async #end(finish: Finish): Promise<Agent> {
    const { lagMs } = this.#lease;
    const agent = await this.#worker.agents.finish(this.#lease, finish);
    await reportRuns(this.#worker, [{ before: this.#before, agent, lagMs, error: finish.error }]);
    this.#before = agent;
    return agent;
  }

  #toFinish(latest: Progress | undefined, end: RunEnd): Finish {
    const durationMs = Math.max(0, this.#worker.clock.now() - this.#lease.startedAtMs);
    if (latest === undefined) return { items: this.#items, changes: 0, durationMs, ...end };
    return { ...toAgentProgress(latest), state: latest.state, durationMs, ...end };
  }

  #warn(message: string, error: unknown): void {
    const { account, name: agent } = this.#agent;
    this.#worker.log.warn(message, { account, agent, error });
  }
}

function toAgentProgress({ items, changes, asOfMs, drift, details }: Progress): AgentProgress {
  return { items, changes, asOfMs, drift, details };
}

async function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** False when the sleep was cut short. */
export async function sleeps(sleep: Promise<void>): Promise<boolean> {
  try {
    await sleep;
    return true;
  } catch {
    return false;
  }
}
