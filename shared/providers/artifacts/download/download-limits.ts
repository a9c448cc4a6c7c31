/** Limits of a download. */
export interface DownloadLimits {
  /** Time to connect, including TLS. 5 s by default. */
  readonly connectTimeoutMs: number;
  /** Time until the answer begins. 15 s by default. */
  readonly headersTimeoutMs: number;
  /** Longest pause between two pieces of the answer while the caller keeps reading. 15 s by default. */
  readonly bodyTimeoutMs: number;
  /** Time until the last answer begins, including redirects and retries. A minute by default. */
  readonly answerTimeoutMs: number;
  /** Time until everything is read. 10 minutes by default. */
  readonly totalTimeoutMs: number;
  /** Longest time that the caller may take between two pieces of the answer. A minute by default. */
  readonly callerTimeoutMs: number;
  /** Largest answer, decompressed. 1 GiB by default. */
  readonly bytesMax: number;
}

/** The limits of a download, unless an operator or a test says otherwise. Times in milliseconds. */
export const downloadLimits: DownloadLimits = {
  connectTimeoutMs: 5_000,
  headersTimeoutMs: 15_000,
  bodyTimeoutMs: 15_000,
  answerTimeoutMs: 60_000,
  totalTimeoutMs: 600_000,
  callerTimeoutMs: 60_000,
  bytesMax: 2 ** 30,
};
