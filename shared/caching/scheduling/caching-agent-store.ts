import { clockErrorMsMax } from '#core/clock.ts';
import type { CachingAgentMode } from './cache-mode.ts';
import { cachingAgentLeaseMs, idleIntervalMs, retryDelayMs } from './caching-agent-schedule.ts';

/** Names an agent. */
export interface CachingAgentKey {
  readonly account: string;
  /** What it does for the account: `KubernetesCoreCachingAgent[1/1]`. */
  readonly name: string;
}

/** A text that tells agents apart. */
export function toCachingAgentId({ account, name }: CachingAgentKey): string {
  return JSON.stringify([account, name]);
}

/** An agent that there should be. */
export interface CachingAgentSpec extends CachingAgentKey {
  /** Provider of the account: `kubernetes`. */
  readonly provider: string;
  /** Milliseconds between two runs while its account is used. */
  readonly intervalMs: number;
}

/** How a run ended. One that was stopped did not have its turn: it is to go on at once. */
export type CachingAgentOutcome = 'SUCCESS' | 'FAILURE' | 'STOPPED';

/** What a run amounted to. */
export interface CachingAgentRun {
  readonly outcome: CachingAgentOutcome;
  readonly durationMs: number;
  /** Objects that the agent knows of now. */
  readonly items: number;
  /** Objects that were put or removed by this run. */
  readonly changes: number;
  /** Everything that was so at this time, wall time in milliseconds, is cached; undefined when the run does not tell. */
  readonly asOfMs?: number | undefined;
  /** Objects found wrong by a check of the whole cache, if the run made one. */
  readonly drift?: number | undefined;
  /** What an operator may want to know besides; small. */
  readonly details?: { readonly [name: string]: string | number | boolean } | undefined;
}

/** A run that ended. */
export interface EndedRun extends CachingAgentRun {
  readonly startedAtMs: number;
  /** By how much it began later than it was due. */
  readonly lagMs: number;
}

/** An agent as the store has it. */
export interface StoredCachingAgent extends CachingAgentSpec {
  /** Who runs it now, and until when that holds unless it is renewed. A lease that ran out is worth nothing. */
  readonly lease?: { readonly owner: string; readonly untilMs: number } | undefined;
  /** Turn of the last run that ended. */
  readonly lastTurn: number;
  /** When it is to run next. While it runs: when it was to. */
  readonly nextRunMs: number;
  /** Times that it was begun since a run last ended: more than one tells that workers died of it. */
  readonly attempts: number;
  /** Runs that failed since one succeeded. */
  readonly failures: number;
  /** When its account was last read or deployed to, as far as that was noted. */
  readonly usedAtMs: number;
  readonly lastRun?: EndedRun | undefined;
  /** How far the run that goes on has come, if it told. */
  readonly progress?: CachingAgentProgress | undefined;
  /** Everything that was so at this time, wall time in milliseconds, is cached; undefined until a run told. */
  readonly asOfMs?: number | undefined;
  /** The last failure; it stays here after later successes. */
  readonly lastError?: { readonly atMs: number; readonly message: string } | undefined;
  /** The mode that it is in; undefined until the scheduler has chosen one. */
  readonly mode?: CachingAgentMode | undefined;
  /** Since when no account wants it: it does not run, and is to be forgotten once its account's data is gone. */
  readonly removedAtMs?: number | undefined;
}

/** Whether somebody runs or watches an agent. */
export function isHeld({ lease }: Pick<StoredCachingAgent, 'lease'>, nowMs: number): boolean {
  return lease !== undefined && lease.untilMs > nowMs;
}

/**
 * Whether times of an agent lie further ahead than its lease, its interval or its back-off can put them: a process with another clock wrote
 * them, and nobody would run the agent until then.
 */
export function isMisdated(agent: StoredCachingAgent, nowMs: number): boolean {
  const { lease, lastTurn, nextRunMs, intervalMs, failures } = agent;
  const lastMs = nowMs + clockErrorMsMax;
  const pauseMs = Math.max(intervalMs, failures > 0 ? retryDelayMs.most : idleIntervalMs);
  const isLeaseAhead = lease !== undefined && lease.untilMs > lastMs + cachingAgentLeaseMs;
  return isLeaseAhead || lastTurn > lastMs || nextRunMs > lastMs + pauseMs;
}

/** Objects and applications of its account that an agent found too large to be cached, by its last run or the one that goes on. */
export function countTooLarge({
  progress,
  lastRun,
}: Pick<StoredCachingAgent, 'progress' | 'lastRun'>): number {
  const { tooLargeCount } = progress?.details ?? lastRun?.details ?? {};
  return typeof tooLargeCount === 'number' ? tooLargeCount : 0;
}

/** Whether an agent caches anything: one whose last run told `cachesNothing` in its details makes no view older or newer. */
export function isCaching({ lastRun }: Pick<StoredCachingAgent, 'lastRun'>): boolean {
  return lastRun?.details?.['cachesNothing'] !== true;
}

/** A worker's hold on an agent. */
export interface CachingAgentLease extends CachingAgentKey {
  readonly owner: string;
  /** Grows with each lease of the agent. */
  readonly fence: number;
  readonly turn: number;
  readonly leaseMs: number;
  readonly startedAtMs: number;
  readonly lagMs: number;
  /** When the account was last used, as far as that was noted when the run began. */
  readonly usedAtMs: number;
  /** States written under this lease: they tell its chunks apart. */
  stateWrites: number;
  /** Whether the state lies in chunks: then the store deletes them when another one takes its place. */
  hasChunks: boolean;
  /** Monotonic time, milliseconds, until which the holder may rely on it; moved on by each renewal. */
  validUntil: number;
}

/** An agent that a worker may run now. */
export interface ClaimedCachingAgent {
  readonly agent: StoredCachingAgent;
  readonly lease: CachingAgentLease;
  /** What it left for its next run; undefined at first. Rejects when that is damaged: begin anew then. */
  readState(): Promise<string | undefined>;
}

/** How to claim an agent. */
export interface ClaimOptions {
  /** Who wants it: `<random>@<host>`. */
  readonly owner: string;
  /** The turn, of `getClaimableTurn`. */
  readonly turn: number;
  /** How long the lease holds unless it is renewed. */
  readonly leaseMs: number;
  /** Somebody waits for it: run it although it is not due. Its turn is then the time now. */
  readonly demanded?: boolean;
  /** It is to share its worker with others: refused when the worker of the run before died, perhaps of this agent. */
  readonly isShared?: boolean;
  /** Told until when another one has it, milliseconds since the epoch, where that is so. */
  onHeld?(untilMs: number): void;
  /** Takes the lease from this owner, who hands it over; nobody else's. That is no further attempt, and never late. */
  readonly handedOverBy?: string | undefined;
  /**
   * When the owner asked, milliseconds since the epoch, for owners who may never hear the answer: each claim has a later time than his last.
   * A lease that he was given for an earlier one is void, and given anew: he would not ask if he knew of it.
   */
  readonly askedMs?: number | undefined;
}

/** How far a run that goes on has come. */
export type CachingAgentProgress = Pick<
  CachingAgentRun,
  'items' | 'changes' | 'asOfMs' | 'drift' | 'details'
>;

/** How an agent's run ended, and what comes next. */
export interface Finish extends CachingAgentRun {
  /** Why it failed, in words for people; at most 2,000 characters of it are kept. */
  readonly error?: string;
  readonly nextRunMs: number;
  /** What the next run is to know; left out, that stays as it is. Up to some megabytes. */
  readonly state?: string;
}

/** An agent of an account whose freshness is asked for. */
export interface FreshCachingAgent extends CachingAgentKey {
  /** The worker that watches it now, by the owner of its lease; undefined when none does. */
  readonly watchedBy?: string | undefined;
}

/** How fresh the cache of an account is. */
export interface AccountFreshness {
  /** Everything that was so at this time is cached: the least of what its agents told last. Undefined until each told something. */
  readonly asOfMs: number | undefined;
  /** Whether its last run failed, or is overdue by more than two intervals: then the rest may be stale. */
  readonly isStale: boolean;
  /** When the last whole run of each began, the least of them; undefined until each had one. */
  readonly triedAtMs: number | undefined;
  /** Objects and applications that are too large to be cached. */
  readonly tooLarge: number;
  /** Its agents, those excepted that were taken out of service. */
  readonly agents: readonly FreshCachingAgent[];
}

/** What changed with the agents there should be. */
export interface SyncAnswer {
  /** All that are wanted, as they are now. */
  readonly agents: readonly StoredCachingAgent[];
  readonly added: readonly CachingAgentKey[];
  /** All that nobody wants any more, those of earlier times included. */
  readonly removed: readonly StoredCachingAgent[];
}

/** Agents in a durable store. Every change is one conditional write of one item. */
export interface CachingAgentStore {
  /**
   * Takes the lease on an agent whose run is due, unless somebody has it or a run of this turn ended already. A turn whose
   * worker died can be claimed again once the lease ran out.
   *
   * @returns undefined when it may not be run: there is none, it was removed, somebody runs it, a worker died of it and it is to share
   *   its worker now, this turn is over, or its next run is not due yet.
   */
  claim(key: CachingAgentKey, options: ClaimOptions): Promise<ClaimedCachingAgent | undefined>;
  /** Keeps the lease for another while; notes how far a run that goes on has come, if told. @throws LeaseLostError */
  renew(lease: CachingAgentLease, progress?: CachingAgentProgress): Promise<void>;
  /**
   * Stores what the next run is to know, and how far a run that goes on has come, if told; keeps the lease for another while.
   *
   * @throws LeaseLostError
   */
  commitState(lease: CachingAgentLease, state: string, progress?: CachingAgentProgress): Promise<void>;
  /**
   * Ends a run and gives up the lease. An account that was woken during the run gets its next run now.
   *
   * @returns the agent as it is now.
   * @throws LeaseLostError
   */
  finish(lease: CachingAgentLease, finish: Finish): Promise<StoredCachingAgent>;
  /** All agents. Eventually consistent. */
  list(): Promise<readonly StoredCachingAgent[]>;
  /** How fresh the caches of accounts are; accounts without agents are left out. Eventually consistent, at most a second old. */
  readFreshness(accounts: readonly string[]): Promise<ReadonlyMap<string, AccountFreshness>>;
  /**
   * Notes that an account is used. That is a write each 5 minutes at most, and mostly not even a read.
   *
   * @returns agents of an account that was idle, or was about to be, but for those that fail: their turns are other ones now, so send
   *   for them. Their next run is now, unless somebody runs them.
   */
  wake(account: string): Promise<readonly StoredCachingAgent[]>;
  /**
   * Adds agents that are missing, and takes out of service those that are not wanted: they lose their lease and their state. One
   * that is wanted again begins anew. Reads all agents, eventually consistent: what changes is written conditionally.
   */
  sync(specs: readonly CachingAgentSpec[]): Promise<SyncAnswer>;
  /**
   * Puts an agent into a mode, and notes since when and why. One that is to be run by turns from now on is taken from who watches it, and
   * its next run is now.
   *
   * @returns the agent as it is now; undefined when it is not in the mode any more that `agent` had.
   */
  setMode(
    agent: StoredCachingAgent,
    choice: Pick<CachingAgentMode, 'mode' | 'reason'>,
  ): Promise<StoredCachingAgent | undefined>;
  /** Tells the worker of this name that somebody waits until an account is cached as of `wantedMs`, wall time in milliseconds. */
  demand(watchedBy: string, account: string, wantedMs: number): Promise<void>;
  /** What was demanded of the worker of this name in the last hour: as of when each account is to be cached. Eventually consistent. */
  listDemands(watchedBy: string): Promise<ReadonlyMap<string, number>>;
  /** Forgets an agent that was taken out of service, once the data of its account is gone. */
  forget(key: CachingAgentKey): Promise<void>;
}
