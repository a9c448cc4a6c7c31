/** What all processes together know of a fact that they asked an AWS service for: where a cluster is, which version a secret has. */
export interface Lookup {
  /** Grows with each change; a change requires the number that was read. */
  readonly versionNumber: number;
  /** The service's last answer; undefined before the first. Never a secret: it is stored in a table. */
  readonly value: string | undefined;
  /** When it gave it, wall time in milliseconds; 0 before its first answer. */
  readonly asOfMs: number;
  /** When a process may ask next, wall time in milliseconds: one is asking, or has asked a moment ago. */
  readonly notBeforeMs: number;
  /** The outcome of the last request. A process that died while asking also leaves `asking`. */
  readonly state: 'asking' | 'answered' | 'busy' | 'refused';
  /** Why there was no answer, for the states `busy` and `refused`: a sentence that holds no secret. */
  readonly reason: string;
  /** Consecutive requests that failed, or returned the same answer within a short time. */
  readonly repeats: number;
}

/** Where processes share their lookups. */
export interface LookupStore {
  /** The lookup of a key; undefined when there is none. It may be a moment old: to act on it use {@link replace}. */
  find(key: LookupKey): Promise<Lookup | undefined>;
  /** Writes a lookup, unless it has changed since it was read. @returns the written lookup; undefined when another process was faster. */
  replace(key: LookupKey, change: LookupChange): Promise<Lookup | undefined>;
}

/** The key of a lookup, in parts. The first one is its kind: `SECRET`. */
export type LookupKey = readonly [kind: string, ...parts: string[]];

/** A change of a lookup. */
export interface LookupChange {
  /** The lookup as it was read; undefined when there was none. */
  readonly seen: Lookup | undefined;
  readonly next: Omit<Lookup, 'versionNumber'>;
}

/** Lets all processes together call a service no faster than it allows. */
export interface CallTurns {
  /**
   * Waits for a turn.
   *
   * @param parts name the kind of call: service, region, AWS account.
   * @throws ServiceBusyError when none is near: it takes none then.
   */
  takeTurn(...parts: readonly string[]): Promise<void>;
}

/** Characters of a shared value; a longer one is not shared. The certificate of a cluster has some 1,500. */
export const lookupValueMax = 16_384;

/** Characters of a shared reason. */
export const lookupReasonMax = 1_000;

/** Thrown when an AWS service throttles or does not answer: the same request may be answered later. */
export class ServiceBusyError extends Error {
  override name = 'ServiceBusyError';
}
