import { clockErrorMsMax } from '#core/clock.ts';
import type { CachingAgentMode } from './cache-mode.ts';
import { cachingAgentLeaseMs, idleIntervalMs, retryDelayMs } from './caching-agent-schedule.ts';

/** Names a caching agent. */
export interface CachingAgentKey {
  readonly account: string;
  /** What it does for the account, behind its region if it has one: `KubernetesCoreCachingAgent[1/1]`, `us-east-1/InstanceCachingAgent`. */
  readonly name: string;
}

/** A text that identifies a caching agent. */
export function toCachingAgentId({ account, name }: CachingAgentKey): string {
  return JSON.stringify([account, name]);
}

/** The region in the name of a caching agent; undefined for one of the whole account. */
export function findRegion({ name }: Pick<CachingAgentKey, 'name'>): string | undefined {
  return /^([a-z0-9-]+)\//.exec(name)?.[1];
}

/** A wanted caching agent. */
export interface CachingAgentSpec extends CachingAgentKey {
  /** Provider of the account: `kubernetes`. */
  readonly provider: string;
  /** Milliseconds between two runs while its account is used. */
  readonly intervalMs: number;
}

/** How a run ended. One that was stopped did not use its turn: it is to continue at once. */
export type CachingAgentOutcome = 'SUCCESS' | 'FAILURE' | 'STOPPED';

interface CachingAgentRun {
  readonly outcome: CachingAgentOutcome;
  readonly durationMs: number;
  /** Objects that the caching agent knows of now. */
  readonly items: number;
  /** Objects that were put or removed by this run. */
  readonly changes: number;
  /** Everything that was so at this time, wall time in milliseconds, is cached; undefined when the run does not report it. */
  readonly asOfMs?: number | undefined;
  /** Objects found wrong by a check of the whole cache, if the run made one. */
  readonly drift?: number | undefined;
  /** Anything else that an operator may want to know; small. */
  readonly details?: { readonly [name: string]: string | number | boolean } | undefined;
}

/** A run that ended. */
export interface EndedRun extends CachingAgentRun {
  readonly startedAtMs: number;
  /** How much later it began than it was due. */
  readonly lagMs: number;
}

/** A caching agent as the store has it. */
export interface StoredCachingAgent extends CachingAgentSpec {
  /** The worker that runs it now, and until when unless it renews the lease. An expired lease is void. */
  readonly lease?: { readonly owner: string; readonly untilMs: number } | undefined;
  /** Turn of the last run that ended. */
  readonly lastTurn: number;
  /** When it is to run next. During a run: when that was due. */
  readonly nextRunMs: number;
  /** Times that it was begun since a run last ended: more than one means that workers died running it. */
  readonly attempts: number;
  /** Failed runs since the last success. */
  readonly failures: number;
  /** When its account was last read or deployed to, as far as noted. */
  readonly usedAtMs: number;
  readonly lastRun?: EndedRun | undefined;
  /** Progress of the current run, if it reported any. */
  readonly progress?: CachingAgentProgress | undefined;
  /** Everything that was so at this time, wall time in milliseconds, is cached; undefined until a run reported it. */
  readonly asOfMs?: number | undefined;
  /** The last failure; kept after later successes. */
  readonly lastError?: { readonly atMs: number; readonly message: string } | undefined;
  /** Its mode; undefined until the scheduler has chosen one. */
  readonly mode?: CachingAgentMode | undefined;
  /** Since when no account wants it: it does not run, and is forgotten once its account's data is gone. */
  readonly removedAtMs?: number | undefined;
}

/** Whether a worker runs or watches a caching agent. */
export function isHeld({ lease }: Pick<StoredCachingAgent, 'lease'>, nowMs: number): boolean {
  return lease !== undefined && lease.untilMs > nowMs;
}

/**
 * Whether times of a caching agent are further ahead than its lease, interval or back-off can put them: a process with another clock wrote
 * them, and no worker would run it until then.
 */
export function isMisdated(agent: StoredCachingAgent, nowMs: number): boolean {
  const { lease, lastTurn, nextRunMs, intervalMs, failures } = agent;
  const lastMs = nowMs + clockErrorMsMax;
  const pauseMs = Math.max(intervalMs, failures > 0 ? retryDelayMs.most : idleIntervalMs);
  const isLeaseAhead = lease !== undefined && lease.untilMs > lastMs + cachingAgentLeaseMs;
  return isLeaseAhead || lastTurn > lastMs || nextRunMs > lastMs + pauseMs;
}

/** Objects and applications too large to be cached, by the caching agent's last or current run. */
export function countTooLarge({
  progress,
  lastRun,
}: Pick<StoredCachingAgent, 'progress' | 'lastRun'>): number {
  const { tooLargeCount } = progress?.details ?? lastRun?.details ?? {};
  return typeof tooLargeCount === 'number' ? tooLargeCount : 0;
}

/** Whether a caching agent caches anything: one whose last run has `cachesNothing` in its details makes no view older or newer. */
export function isCaching({ lastRun }: Pick<StoredCachingAgent, 'lastRun'>): boolean {
  return lastRun?.details?.['cachesNothing'] !== true;
}

/** A worker's hold on a caching agent. */
export interface CachingAgentLease extends CachingAgentKey {
  readonly owner: string;
  /** Grows with each lease of the caching agent. */
  readonly fence: number;
  readonly turn: number;
  readonly leaseMs: number;
  readonly startedAtMs: number;
  readonly lagMs: number;
  /** When the account was last used, as far as noted when the run began. */
  readonly usedAtMs: number;
  /** Number of states written under this lease: it distinguishes their chunks. */
  stateWrites: number;
  /** Whether the state is in chunks: the store deletes them when another state replaces it. */
  hasChunks: boolean;
  /** Monotonic time, milliseconds, until which the holder may rely on it; each renewal moves it on. */
  validUntil: number;
}

/** A caching agent that a worker may run now. */
export interface ClaimedCachingAgent {
  readonly agent: StoredCachingAgent;
  readonly lease: CachingAgentLease;
  /** The state left for its next run; undefined at first. Rejects when that is damaged: begin from nothing then. */
  readState(): Promise<string | undefined>;
}

/** How to claim a caching agent. */
export interface ClaimOptions {
  /** Owner of the new lease: `<random>@<host>`. */
  readonly owner: string;
  /** The turn, of `getClaimableTurn`. */
  readonly turn: number;
  /** How long the lease holds unless it is renewed. */
  readonly leaseMs: number;
  /** A request waits for it: run it although it is not due. Its turn is then the current time. */
  readonly demanded?: boolean;
  /** It is to share its worker with others: refused when the worker of its last run died, perhaps because of it. */
  readonly isShared?: boolean;
  /** Called when another owner holds it, with the end of that lease in milliseconds since the epoch. */
  onHeld?(untilMs: number): void;
  /** Takes the lease from this owner only, which hands it over. That is no further attempt, and never late. */
  readonly handedOverBy?: string | undefined;
  /**
   * When the owner asked, milliseconds since the epoch, for owners that may never receive the answer: each claim has a later time than the
   * owner's last. A lease given for an earlier one is void, and given again: an owner that knew of it would not ask.
   */
  readonly askedMs?: number | undefined;
}

/** Progress of the current run. */
export type CachingAgentProgress = Pick<
  CachingAgentRun,
  'items' | 'changes' | 'asOfMs' | 'drift' | 'details'
>;

/** How a caching agent's run ended, and what comes next. */
export interface Finish extends CachingAgentRun {
  /** Why it failed, in plain words; at most 2,000 characters of it are kept. */
  readonly error?: string;
  readonly nextRunMs: number;
  /** The state for the next run; left out, it stays as it is. Up to some megabytes. */
  readonly state?: string;
}

/** A caching agent of an account whose freshness is asked for. */
export interface FreshCachingAgent extends CachingAgentKey {
  /** The worker that watches it now (the owner of its lease); undefined when none does. */
  readonly watchedBy?: string | undefined;
}

/** How fresh the cache of an account is. */
export interface AccountFreshness {
  /** Everything that was so at this time is cached, by the earliest of its caching agents. Undefined until each reported a time. */
  readonly asOfMs: number | undefined;
  /** Whether a last run failed, or is overdue by more than two intervals: then the rest may be stale. */
  readonly isStale: boolean;
  /** When the last complete run of each began, the earliest of them; undefined until each had one. */
  readonly triedAtMs: number | undefined;
  /** Objects and applications that are too large to be cached. */
  readonly tooLarge: number;
  /** Its caching agents, except those taken out of service. */
  readonly agents: readonly FreshCachingAgent[];
}

/** The wanted caching agents and the others, after a sync. */
export interface SyncAnswer {
  /** All wanted ones, as they are now. */
  readonly agents: readonly StoredCachingAgent[];
  readonly added: readonly CachingAgentKey[];
  /** All unwanted ones, including those of earlier syncs. */
  readonly removed: readonly StoredCachingAgent[];
}

/** Caching agents in a durable store. Every change is one conditional write of one item. */
export interface CachingAgentStore {
  /**
   * Takes the lease on a caching agent whose run is due, unless another worker has it or a run of this turn ended already. A turn whose
   * worker died can be claimed again once the lease ran out.
   *
   * @returns undefined when it may not be run: it does not exist, was removed, is running, its worker died and it is to share its worker
   *   now, this turn is over, or its next run is not due yet.
   */
  claim(key: CachingAgentKey, options: ClaimOptions): Promise<ClaimedCachingAgent | undefined>;
  /** Renews the lease; stores the progress of the current run, if given. @throws LeaseLostError */
  renew(lease: CachingAgentLease, progress?: CachingAgentProgress): Promise<void>;
  /** Stores the state for the next run, and the current progress, if given; renews the lease. @throws LeaseLostError */
  commitState(lease: CachingAgentLease, state: string, progress?: CachingAgentProgress): Promise<void>;
  /** Ends a run and gives up the lease. An account woken meanwhile is due now. @returns its new state @throws LeaseLostError */
  finish(lease: CachingAgentLease, finish: Finish): Promise<StoredCachingAgent>;
  /** All caching agents. Eventually consistent. */
  list(): Promise<readonly StoredCachingAgent[]>;
  /** How fresh the caches of accounts are; leaves out accounts without caching agents. Eventually consistent, at most a second old. */
  readFreshness(accounts: readonly string[]): Promise<ReadonlyMap<string, AccountFreshness>>;
  /**
   * Notes that an account is used: at most one write each 5 minutes, and mostly not even a read.
   *
   * @returns caching agents of an account that was idle, or about to be, except those that fail: their turns have changed, so send for
   *   them. Their next run is now, unless they are running.
   */
  wake(account: string): Promise<readonly StoredCachingAgent[]>;
  /**
   * Adds caching agents that are missing, and takes out of service those that are not wanted: they lose their lease and their state. One
   * that is wanted again begins from nothing. Reads all of them, eventually consistent: changes are written conditionally.
   */
  sync(specs: readonly CachingAgentSpec[]): Promise<SyncAnswer>;
  /**
   * Puts a caching agent into a mode, and notes since when and why. One that is run by turns from now on is taken from its watching worker,
   * and its next run is now.
   *
   * @returns the caching agent as it is now; undefined when its mode is not that of `agent` any more.
   */
  setMode(
    agent: StoredCachingAgent,
    choice: Pick<CachingAgentMode, 'mode' | 'reason'>,
  ): Promise<StoredCachingAgent | undefined>;
  /** Notifies the worker of this name that a request waits until an account is cached as of `wantedMs`, wall time in milliseconds. */
  demand(watchedBy: string, account: string, wantedMs: number): Promise<void>;
  /** Demands on the worker of this name in the last hour: as of when each account is to be cached. Eventually consistent. */
  listDemands(watchedBy: string): Promise<ReadonlyMap<string, number>>;
  /** Forgets a caching agent that was taken out of service, once the data of its account is gone. */
  forget(key: CachingAgentKey): Promise<void>;
}
