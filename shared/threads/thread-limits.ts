/** Limits of work in threads. */
export interface ThreadLimits {
  /** Threads at a time. */
  readonly threadsMax: number;
  /** Waiting jobs. */
  readonly waitingMax: number;
  /** Waiting jobs of one account. */
  readonly waitingOfAccountMax: number;
  /** Milliseconds of processor time of one job. */
  readonly cpuMs: number;
  /** Memory of one job, besides the bytes that it reads: MiB. */
  readonly heapMib: number;
}

/** The limits of a process. */
export const threadLimits: ThreadLimits = {
  threadsMax: 2,
  waitingMax: 32,
  waitingOfAccountMax: 8,
  cpuMs: 5_000,
  heapMib: 256,
};

/** Bytes up to which a text from outside is read where it arrives; a larger one is read in a thread. */
export const inPlaceBytesMax = 256 * 1024;
