import { FailedOperationError } from '#core/errors.ts';
import { formatHost } from './url-guard.ts';

/** The time of one download. */
export interface DownloadTime {
  /** Aborts with the caller's signal, and with a FailedOperationError when the time is over. */
  readonly signal: AbortSignal;
  /** Call it when the last answer has begun. */
  recordAnswer(): void;
  /** Call it at the end. */
  stop(): void;
}

/**
 * Starts the time of a download, which ends however a host spreads its redirects, interim answers and bytes.
 *
 * @param host the called host, for the message.
 */
export function startDownloadTime(
  host: string,
  limits: { readonly answerTimeoutMs: number; readonly totalTimeoutMs: number },
  callerSignal: AbortSignal,
): DownloadTime {
  const over = new AbortController();
  const end = (what: string) =>
    over.abort(new FailedOperationError(`Unable to read from ${formatHost(host)}: ${what}`));
  const answerTimer = setTimeout(() => end('no answer in time'), limits.answerTimeoutMs).unref();
  const totalTimer = setTimeout(() => end('the transfer took too long'), limits.totalTimeoutMs).unref();
  const stop = () => {
    clearTimeout(answerTimer);
    clearTimeout(totalTimer);
  };
  return {
    signal: AbortSignal.any([callerSignal, over.signal]),
    recordAnswer: () => clearTimeout(answerTimer),
    stop,
  };
}
