/** Milliseconds after which what is stored of a live read is forgotten, whatever became of it. */
export const liveReadLifeMs = 60_000;

/** Milliseconds for which somebody waits for the answer of an agent. */
export const liveReadWaitMs = 18_000;

/** Milliseconds for which an agent that took a read has it for itself: then another may take it. */
export const liveReadLeaseMs = 10_000;

/** Bytes of one part of the answer of a read at most: gzipped JSON text, which all parts together are. */
export const readPartBytesMax = 300 * 1024;

/** Bytes of a packed answer that is kept with its read, at most: one that is larger has parts of its own. */
export const readInlineBytesMax = 100 * 1024;

/** Parts of an answer at most. */
export const readPartsMax = 120;

/** Bytes of the JSON text of an answer at most, unpacked: of logs, and of what is read from them. */
export const readLogBytesMax = 32 * 2 ** 20;

/** The same of any other answer: an object and its events. */
export const readObjectBytesMax = 16 * 2 ** 20;

const logMethods: readonly string[] = ['console.list', 'jobs.properties', 'pods.properties'];

/** Bytes of the JSON text of what a method answers, at most. */
export function getAnswerBytesMax(method: string): number {
  return logMethods.includes(method) ? readLogBytesMax : readObjectBytesMax;
}

/** Characters of what an error of a read says, at most. */
export const readErrorLengthMax = 10_000;

/** Violations in an error about bad input, at most. */
export const readViolationsMax = 20;

/** Characters of one of them at most. */
export const readViolationLengthMax = 2_000;

/** A read of a cluster that only agents reach: somebody waits for its answer. */
export interface LiveRead {
  readonly id: string;
  readonly account: string;
  /** The method of the read: `manifests.get`. */
  readonly method: string;
  /** JSON text of what the method takes. */
  readonly args: string;
  readonly acceptedAtMs: number;
  /** The process that waits for the answer; undefined where processes do not notify each other. */
  readonly waiter?: string | undefined;
}

/** The state of a read. */
export interface LiveReadState extends LiveRead {
  /** How often it was taken. Parts of an answer belong to one of these times. */
  readonly takes: number;
  /** Until when the last agent that took it has it for itself; 0 before the first. */
  readonly takenUntilMs: number;
  /** Undefined while there is no answer. */
  readonly answer?: LiveReadAnswer | undefined;
}

/** How a read was answered. */
export interface LiveReadAnswer {
  /** Which time the read was taken. */
  readonly take: number;
  /** Parts of the packed answer; 0 for a failure, and where it is kept with the read. */
  readonly parts: number;
  /** The packed answer where it is kept with the read: {@link readInlineBytesMax} at most. */
  readonly bytes?: Uint8Array | undefined;
  /** JSON text of the error; undefined for a read that went well. */
  readonly failure: string | undefined;
}

/** Live reads in a durable store. Each change is one write of one item; what is forgotten by its age is not found any more. */
export interface LiveReadStore {
  /** Stores a read that waits for an agent. */
  add(read: LiveRead): Promise<void>;
  /** Ids of an account's reads, the oldest first; answered ones may be among them. */
  list(account: string, limit: number): Promise<readonly string[]>;
  /** The state of the read; undefined when it is unknown, given up or forgotten. */
  find(id: string): Promise<LiveReadState | undefined>;
  /**
   * Takes a read that no agent has, for {@link liveReadLeaseMs}.
   *
   * @returns the how manieth time that is, from 1; undefined while another agent has it, and once it is answered or given up
   */
  take(id: string): Promise<number | undefined>;
  /** Stores a part of an answer; repeating it is harmless. @param part from 0 */
  putPart(place: LiveReadPart, bytes: Uint8Array): Promise<void>;
  /** Ends a read. @returns false when it was taken again, answered before, or given up */
  finish(id: string, answer: LiveReadAnswer): Promise<boolean>;
  /** A part of an answer; undefined when it was never stored. */
  findPart(place: LiveReadPart): Promise<Uint8Array | undefined>;
  /** Forgets a read with its answer. Repeating it is harmless. */
  remove(read: LiveRead, answer: LiveReadAnswer | undefined): Promise<void>;
}

/** Which part of which answer. */
export interface LiveReadPart {
  readonly id: string;
  readonly take: number;
  readonly part: number;
}
