import type { BusEvent } from '#platform/ports/event-bus.ts';
import type { CacheStore } from '../store/cache-store.ts';
import type { AwsEvent } from './aws-event.ts';
import type { CacheModeSetting } from './cache-mode.ts';
import type { CachingAgentProgress, CachingAgentSpec } from './caching-agent-store.ts';

/** Milliseconds after which a run is given up, unless the agent has a time of its own: 5 minutes. */
export const defaultCachingAgentTimeoutMs = 300_000;

/** What a run works with. */
export interface CachingRun {
  readonly cache: CacheStore;
  /** What the run before left; undefined at first, or when that was damaged. */
  readonly state: string | undefined;
  /** Whether the run has its worker to itself. One that has not shares it with up to 24 others, and must not list. */
  readonly isAlone: boolean;
  /** Aborted when the time of the run is over, its lease was lost, or the worker stops. */
  readonly signal: AbortSignal;
  /**
   * To be called before each write: a process that was stopped for a while learns here that its lease is over, before any timer
   * has told `signal`.
   *
   * @throws Error when the run may write no more, or the reason of `signal`
   */
  ensureHeld(): void;
  /**
   * Stores what the next run is to know before this one ends: a worker that dies later costs only what came after it. What it has come to is
   * shown, and stays so where the run fails later.
   */
  commitState(state: string, progress?: CachingAgentProgress): Promise<void>;
}

/**
 * What a run came to. A run that could do nothing throws instead. Its details tell what an operator may want to know: kinds that may not be
 * read, for example; never what is secret. `tooLarge` names what cannot be cached since it is too large, and `tooLargeCount` counts
 * it: answers and a metric tell that number. `cachesNothing: true` tells that no view depends on the agent.
 */
export interface CachingResult extends CachingAgentProgress {
  /** `listing`: it has to list and is not alone. It did what it could without, and wants to be run again, alone, at once. */
  readonly outcome: 'done' | 'listing';
  /** What the next run is to know. */
  readonly state: string;
  /** What could not be read, in words for people: the run counts as failed, although the rest of it was done. */
  readonly error?: string | undefined;
  /** What is told on the bus beside the run itself, once or not at all; by a run alone, not by watching. Default: nothing. */
  readonly events?: readonly BusEvent[] | undefined;
}

/** What watching works with. */
export interface WatchRun extends Omit<CachingRun, 'isAlone' | 'commitState'> {
  /** Tells how far it has come; the worker stores the latest progress every few seconds, and at the end. */
  onProgress(progress: Omit<CachingResult, 'outcome' | 'events'>): void;
  /**
   * Takes what proves on demand, as far as it can, that everything up to now was seen, and tells that as progress. Undefined while
   * there is nothing that could: progress comes by itself then.
   */
  onProvable?(prove: (() => Promise<void>) | undefined): void;
}

/** What an update came to that an event asked for. */
export interface UpdateResult {
  /** Objects that were put or removed. */
  readonly changes: number;
  /** What is to be told on the bus. */
  readonly events: readonly BusEvent[];
}

/**
 * Brings up to date what an event is about, and nothing else. It holds no lease: a run may go on meanwhile, and it may come twice.
 *
 * @throws Error when it could not
 */
export type FoundUpdate = (run: Pick<CachingRun, 'cache' | 'signal'>) => Promise<UpdateResult>;

/** Something that keeps the cache of one account up to date. Runs may overlap and come twice: the object rule makes that harmless. */
export interface CachingAgent extends CachingAgentSpec {
  readonly mode: CacheModeSetting;
  /** Accounts that are watched at most of those whose mode is `automatic`. Default: all. */
  readonly streamedAccountsMax?: number | undefined;
  /**
   * Whether it is an agent in the account's cluster that runs it: here nobody does, or sends for it, but it has its place among the
   * others, so that views tell how old they are. Default: false.
   */
  readonly isRemote?: boolean | undefined;
  /** Milliseconds after which a run is given up. */
  readonly timeoutMs: number;
  /** Brings the cache up to date. @throws Error with words for people when it could not. */
  run(run: CachingRun): Promise<CachingResult>;
  /** What an event has this agent do; undefined for one that is about nothing of its. Default: no event is. */
  findUpdate?(event: AwsEvent): FoundUpdate | undefined;
  /**
   * Keeps the cache up to date until it is aborted; agents that may be in mode `stream` have it. It begins where the state says that the last
   * run or watcher came to, and may list.
   *
   * @returns how far it came. @throws Error with words for people when it cannot go on; it is then begun anew after a pause.
   */
  watch?(run: WatchRun): Promise<CachingResult>;
}
