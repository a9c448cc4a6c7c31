import type { CacheStore } from '../cache/cache-store.ts';
import type { AgentSpec } from './agent-store.ts';

/** Milliseconds after which a run is given up, unless the agent has a time of its own: 5 minutes. */
export const defaultAgentTimeoutMs = 300_000;

/** How an agent learns of changes: by runs, one after each interval, or all the time. */
export type CacheMode = 'interval' | 'stream';

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
  /** Stores what the next run is to know before this one ends: a worker that dies later costs only what came after it. */
  commitState(state: string): Promise<void>;
}

/** What a run came to. A run that could do nothing throws instead. */
export interface CachingResult {
  /** `listing`: it has to list and is not alone. It did what it could without, and wants to be run again, alone, at once. */
  readonly outcome: 'done' | 'listing';
  /** What the next run is to know. */
  readonly state: string;
  /** Objects that the agent knows of now. */
  readonly items: number;
  /** Objects that were put or removed by this run. */
  readonly changes: number;
  /** Everything that was so at this time, wall time in milliseconds, is in the cache; undefined when the run does not tell. */
  readonly asOfMs?: number | undefined;
  /** Objects found wrong by a check of the whole cache; undefined when the run made none. */
  readonly drift?: number | undefined;
  /** What could not be read, in words for people: the run counts as failed, although the rest of it was done. */
  readonly error?: string | undefined;
  /**
   * What an operator may want to know besides: kinds that may not be read, for example. Small, and never secret. `tooLarge` names
   * what cannot be cached since it is too large, and `tooLargeCount` counts it: answers and a metric tell that number.
   */
  readonly details?: { readonly [name: string]: string | number | boolean } | undefined;
}

/** What following works with. */
export interface FollowingRun extends Omit<CachingRun, 'isAlone' | 'commitState'> {
  /** Tells how far it has come; the worker stores the latest progress every few seconds, and at the end. */
  onProgress(progress: Omit<CachingResult, 'outcome'>): void;
}

/** Something that keeps the cache of one account up to date. Runs may overlap and come twice: the object rule makes that harmless. */
export interface CachingAgent extends AgentSpec {
  readonly mode: CacheMode;
  /** Milliseconds after which a run is given up. */
  readonly timeoutMs: number;
  /** Brings the cache up to date. @throws Error with words for people when it could not. */
  run(run: CachingRun): Promise<CachingResult>;
  /**
   * Keeps the cache up to date until it is aborted; agents of mode `stream` have it. It begins where the state says that the last
   * run or follower came to, and may list.
   *
   * @returns how far it came. @throws Error with words for people when it cannot go on; it is then begun anew after a pause.
   */
  follow?(run: FollowingRun): Promise<CachingResult>;
}
