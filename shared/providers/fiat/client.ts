import type { Dispatcher } from 'undici';
import request from 'undici/lib/api/api-request.js';
import Agent from 'undici/lib/dispatcher/agent.js';
import type { UserPermission } from '#access/authorizer.ts';
import { type RetryOptions, retry } from '#core/back-off.ts';
import type { Clock, Randomness } from '#core/clock.ts';
import { FailedOperationError, getErrorMessage, UnavailableError } from '#core/errors.ts';
import type { JsonValue } from '#core/json.ts';
import { RefusedError, readServiceAnswer } from '#core/service-answer.ts';
import { parsePermission } from './answers.ts';

/** The most connections of a process to Fiat. */
export const connectionsMax = 16;

/** Limits of a request to Fiat. */
interface ClientLimits {
  /** Milliseconds for an answer, including retries. */
  readonly totalMs: number;
  /** Milliseconds for one try, from connecting to the last byte. */
  readonly tryMs: number;
  /** Milliseconds before the second try, plus or minus half; half as much again before each further one. */
  readonly retryDelayMs: number;
  /** Largest answer. 10,000 applications take 1 MB. */
  readonly bytesMax: number;
}

/** Milliseconds for one try: Fiat answers from memory, so a slower one is in trouble. */
export const tryMs = 2_000;

/** The most bytes of one answer of Fiat. */
export const answerBytesMax = 8 * 2 ** 20;

/** Bytes of a 404 that are read, so that its connection can be used again. */
const missingBytesMax = 64 * 2 ** 10;

/** The factor by which each pause between tries grows. */
const pauseGrowth = 1.5;

interface FiatClientOptions {
  /** With a slash at its end. */
  readonly baseUrl: URL;
  readonly clock: Pick<Clock, 'monotonic' | 'sleep'>;
  readonly randomness: Pick<Randomness, 'fraction'>;
  readonly limits: Pick<ClientLimits, 'totalMs' | 'retryDelayMs'> & Partial<ClientLimits>;
}

interface AskOptions {
  /** Aborts the request when no caller waits for its answer any more. */
  readonly signal: AbortSignal;
  /** Whether one try is enough. */
  readonly isOnce?: boolean;
}

/** Asks Fiat. */
export interface FiatClient extends AsyncDisposable {
  /**
   * What a user may do; undefined for a user unknown to Fiat, which answers 404.
   *
   * @param user well-formed text, neither `.` nor `..`; undefined for Fiat's `anonymous`.
   * @throws UnavailableError if Fiat gave no answer, or a wrong one, with the reason; it quotes nothing of the answer.
   */
  getPermission(user: string | undefined, options: AskOptions): Promise<UserPermission | undefined>;
}

/** Fiat's name for anonymous callers. */
export const anonymousUser = 'anonymous';

/** A client, which connects on first use. Transient failures are retried until the time is over. */
export function createFiatClient(options: FiatClientOptions): FiatClient {
  const { baseUrl, clock, randomness } = options;
  const limits = { tryMs, bytesMax: answerBytesMax, ...options.limits };
  const agent = new Agent({
    allowH2: false,
    connections: connectionsMax,
    connect: { timeout: limits.tryMs },
    headersTimeout: limits.tryMs,
    bodyTimeout: limits.tryMs,
  });

  async function ask(user: string | undefined, signal: AbortSignal): Promise<UserPermission | undefined> {
    const name = user ?? anonymousUser;
    const path = `${baseUrl.pathname}authorize/${encodeURIComponent(name)}`;
    const headers = { accept: 'application/json', 'user-agent': 'busdriver', ...toHeaders(user) };
    const { origin } = baseUrl;
    const response = await request.call(agent, { origin, path, method: 'GET', headers, signal });
    const answer = await readJson(response, limits.bytesMax);
    return answer === undefined ? undefined : parsePermission(answer, name);
  }

  async function askInTime(
    user: string | undefined,
    signal: AbortSignal,
  ): Promise<UserPermission | undefined> {
    const tooLong = AbortSignal.timeout(limits.tryMs);
    try {
      return await ask(user, AbortSignal.any([signal, tooLong]));
    } catch (error) {
      if (tooLong.aborted && !signal.aborted)
        throw new RefusedError(`no answer within ${limits.tryMs} ms`, true);
      throw error;
    }
  }

  function askAgain(
    user: string | undefined,
    { signal, isOnce }: AskOptions,
  ): Promise<UserPermission | undefined> {
    const untilMs = clock.monotonic() + limits.totalMs;
    const again: RetryOptions = {
      backOff: { firstMs: 1.5 * limits.retryDelayMs, fixedShare: 1 / 3, growth: pauseGrowth },
      triesMax: isOnce ? 1 : Number.POSITIVE_INFINITY,
      clock,
      randomness,
      signal,
      isRetryable: (error, pauseMs) => isRetryable(error) && clock.monotonic() + pauseMs < untilMs,
    };
    return retry(again, () => askInTime(user, signal));
  }

  return {
    async getPermission(user, { signal, isOnce = false }) {
      const over = AbortSignal.timeout(limits.totalMs);
      try {
        return await askAgain(user, { signal: AbortSignal.any([signal, over]), isOnce });
      } catch (error) {
        const reason = over.aborted ? `no answer within ${limits.totalMs} ms` : getErrorMessage(error);
        throw new UnavailableError(`Fiat (${baseUrl.origin}) cannot be asked: ${reason}`, { cause: error });
      }
    },
    [Symbol.asyncDispose]: () => agent.destroy(),
  };
}

/**
 * Spinnaker's services pass on the calling user. Fiat's `defaultToUnrestrictedUser` needs that: a user without permissions of their own
 * then has everybody's, but only if they are the caller.
 */
function toHeaders(user: string | undefined): { readonly [name: string]: string } {
  return user !== undefined && /^[\x20-\x7e]*$/.test(user) ? { 'X-SPINNAKER-USER': user } : {};
}

/** Lost connections, time-outs and statuses of temporary failures. A retry does not help against an answer of a wrong form. */
function isRetryable(error: unknown): boolean {
  if (error instanceof RefusedError) return error.isRetryable || error.statusCode === 408;
  return !(error instanceof FailedOperationError);
}

/** The answer; undefined for 404. */
async function readJson(answer: Dispatcher.ResponseData, bytesMax: number): Promise<JsonValue | undefined> {
  const { statusCode, body } = answer;
  if (statusCode === 404) {
    body.on('error', () => {});
    await body.dump({ limit: missingBytesMax }).catch(() => undefined);
    return undefined;
  }
  const bytes = await readServiceAnswer(answer, bytesMax);
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8')) as JsonValue;
  } catch {
    throw new RefusedError('its answer is not JSON', false);
  }
}
