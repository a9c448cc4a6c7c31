/** What all processes together know of something that a service of AWS was asked: where a cluster is, which version a secret has. */
export interface Lookup {
  /** Grows with each change; a change demands the versionNumber that was seen. */
  readonly versionNumber: number;
  /** What the service said last; undefined before its first answer. Never a secret: it stands in a table. */
  readonly value: string | undefined;
  /** When it said so, wall time in milliseconds; 0 before its first answer. */
  readonly asOfMs: number;
  /** Who is to ask next waits until then, wall time in milliseconds: somebody is asking, or has asked a moment ago. */
  readonly notBeforeMs: number;
  /** What became of the last question. `asking` is also what a process leaves that died while it asked. */
  readonly state: 'asking' | 'answered' | 'busy' | 'refused';
  /** Why there was no answer, for the states `busy` and `refused`: a sentence that holds no secret. */
  readonly reason: string;
  /** Questions in a row that failed, or whose answer was the same within a short time. */
  readonly repeats: number;
}

/** Where processes share what they looked up. */
export interface LookupStore {
  /** What is known under a key; undefined when nothing is. It may be a moment old: who acts on it uses {@link replace}. */
  find(key: LookupKey): Promise<Lookup | undefined>;
  /**
   * Writes what is known now, unless it is another by now than what was seen.
   *
   * @returns what was written; undefined when somebody else was faster.
   */
  replace(key: LookupKey, change: LookupChange): Promise<Lookup | undefined>;
}

/** What is looked up, in parts. The first one says of which kind it is. */
export type LookupKey = readonly [kind: 'EKS' | 'SECRET', ...parts: string[]];

/** A change of what is known. */
export interface LookupChange {
  /** What it was when the change was decided on; undefined when nothing was known. */
  readonly seen: Lookup | undefined;
  readonly next: Omit<Lookup, 'versionNumber'>;
}

/** Lets all processes together call a service no faster than it allows. */
export interface CallTurns {
  /**
   * Waits for a turn.
   *
   * @param parts name the kind of call: service, region, AWS account.
   * @throws ServiceBusyError when none is near: none is taken then.
   */
  takeTurn(...parts: readonly string[]): Promise<void>;
}

/** Characters of a value that is shared; a longer one stays with who asked for it. The certificate of a cluster has some 1,500. */
export const lookupValueMax = 16_384;

/** Characters of a reason that is shared. */
export const lookupReasonMax = 1_000;

/** Thrown by whoever asks a service of AWS that has too much to do, or does not answer: the same question may be answered later. */
export class ServiceBusyError extends Error {
  override name = 'ServiceBusyError';
}
