import type { BusEvent } from '#platform/ports/event-bus.ts';
import type { CacheStore } from '../store/cache-store.ts';
import type { AwsEvent } from './aws-event.ts';
import type { CacheModeSetting } from './cache-mode.ts';
import type { CachingAgentProgress, CachingAgentSpec } from './caching-agent-store.ts';

/** Milliseconds after which a run is given up, unless the caching agent sets its own time: 5 minutes. */
export const defaultCachingAgentTimeoutMs = 300_000;

/** What a run receives. */
export interface CachingRun {
  readonly cache: CacheStore;
  /** The state that the previous run left; undefined at first, or when that was damaged. */
  readonly state: string | undefined;
  /** Whether the run has its worker to itself. Otherwise it shares it with up to 24 others, and must not list. */
  readonly isAlone: boolean;
  /** Aborted when the time of the run is over, its lease was lost, or the worker stops. */
  readonly signal: AbortSignal;
  /**
   * Call it before each write: a process that was suspended for a while learns here that its lease is over, before any timer has aborted
   * `signal`.
   *
   * @throws Error when the run may write no more, or the reason of `signal`
   */
  ensureHeld(): void;
  /** Stores the state for the next run before this one ends, so that only what comes later can be lost. Its progress is shown at once. */
  commitState(state: string, progress?: CachingAgentProgress): Promise<void>;
}

/**
 * The result of a run. A run that could do nothing throws instead. Its details say what an operator may want to know, such as kinds that
 * may not be read; never secrets. `tooLarge` names what is too large to be cached, and `tooLargeCount` counts it: answers and a metric have
 * that number. `cachesNothing: true` says that no view depends on the caching agent.
 */
export interface CachingResult extends CachingAgentProgress {
  /** `listing`: it has to list and is not alone. It did what it could without, and must run again at once, alone. */
  readonly outcome: 'done' | 'listing';
  /** The state for the next run. */
  readonly state: string;
  /** What could not be read, in plain words: the run counts as failed, although the rest of it was done. */
  readonly error?: string | undefined;
  /** Events to publish besides the run itself, once or not at all; by a run alone, not by watching. Default: none. */
  readonly events?: readonly BusEvent[] | undefined;
}

/** What watching receives. */
export interface WatchRun extends Omit<CachingRun, 'isAlone' | 'commitState'> {
  /** Reports its progress; the worker stores the latest every few seconds, and at the end. */
  onProgress(progress: Omit<CachingResult, 'outcome' | 'events'>): void;
  /**
   * Takes a function that proves on demand, as far as it can, that everything up to now was seen, and reports that as progress. Undefined
   * while it cannot: progress comes by itself then.
   */
  onProvable?(prove: (() => Promise<void>) | undefined): void;
}

/** The result of an update that an event asked for. */
export interface UpdateResult {
  /** Objects that were put or removed. */
  readonly changes: number;
  /** Events to publish. */
  readonly events: readonly BusEvent[];
}

/** Updates what an event is about, without a lease: a run may go on, and the event may come twice. @throws Error when it could not */
export type FoundUpdate = (run: Pick<CachingRun, 'cache' | 'signal'>) => Promise<UpdateResult>;

/** Keeps the cache of one account up to date. Runs may overlap and come twice: the object rule makes that harmless. */
export interface CachingAgent extends CachingAgentSpec {
  readonly mode: CacheModeSetting;
  /** Maximum of watched accounts whose mode is `automatic`. Default: all. */
  readonly streamedAccountsMax?: number | undefined;
  /**
   * Whether an agent in the account's cluster runs it: Busdriver neither runs it nor sends for it, but it has its place among the others,
   * so that views know how old they are. Default: false.
   */
  readonly isRemote?: boolean | undefined;
  /** Milliseconds after which a run is given up. */
  readonly timeoutMs: number;
  /** Brings the cache up to date. @throws Error in plain words when it could not. */
  run(run: CachingRun): Promise<CachingResult>;
  /** The update that an event asks of this caching agent; undefined for an event that does not concern it. Default: none does. */
  findUpdate?(event: AwsEvent): FoundUpdate | undefined;
  /**
   * Keeps the cache up to date until it is aborted; caching agents that may be in mode `stream` have it. It begins where the state says
   * that the last run or watch ended, and may list.
   *
   * @returns how far it came. @throws Error in plain words when it cannot go on; it is then begun again after a pause.
   */
  watch?(run: WatchRun): Promise<CachingResult>;
}
