import type { UserPermission } from '#access/authorizer.ts';
import {
  findStatus,
  parseAnswer,
  ServiceClient,
  type ServiceOptions,
} from '#provider-kit/http-client/service-client.ts';
import { parsePermission } from './answers.ts';

/** The most connections of a process to Fiat. */
export const connectionsMax = 16;

/** Milliseconds for one try: Fiat answers from memory, so a slower one is in trouble. */
export const tryMs = 2_000;

/** The most bytes of one answer of Fiat: 10,000 applications take 1 MB. */
export const answerBytesMax = 8 * 2 ** 20;

interface FiatClientOptions extends Pick<ServiceOptions, 'baseUrl' | 'clock' | 'randomness'> {
  readonly limits: Pick<ServiceOptions, 'totalMs'> &
    Partial<Pick<ServiceOptions, 'tryMs' | 'bytesMax'>> & {
      /** Milliseconds before the second try, plus or minus half; half as much again before each further one. */
      readonly retryDelayMs: number;
    };
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
   * @throws UnavailableError if Fiat gave no answer, or a wrong one, with the reason; it quotes nothing of the answer. The signal's reason
   */
  getPermission(user: string | undefined, options: AskOptions): Promise<UserPermission | undefined>;
}

/** Fiat's name for anonymous callers. */
export const anonymousUser = 'anonymous';

/** A client, which connects on first use. Transient failures are retried until the time is over. */
export function createFiatClient({ limits: given, ...parts }: FiatClientOptions): FiatClient {
  const { retryDelayMs, ...limits } = { tryMs, bytesMax: answerBytesMax, ...given };
  const service = new ServiceClient({
    ...{ name: 'Fiat', connections: connectionsMax, ...parts, ...limits },
    backOff: { firstMs: 1.5 * retryDelayMs, fixedShare: 1 / 3, growth: 1.5 },
    triesMax: Number.POSITIVE_INFINITY,
  });
  return {
    async getPermission(user, options) {
      const name = user ?? anonymousUser;
      try {
        return await service.ask({
          ...{ path: `authorize/${encodeURIComponent(name)}`, headers: toHeaders(user), ...options },
          read: (bytes) => parsePermission(parseAnswer(bytes), name),
        });
      } catch (error) {
        if (findStatus(error) === 404) return undefined;
        throw error;
      }
    },
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  };
}

/**
 * Spinnaker's services pass on the calling user. Fiat's `defaultToUnrestrictedUser` needs that: a user without permissions of their own
 * then has everybody's, but only if they are the caller.
 */
function toHeaders(user: string | undefined): { readonly [name: string]: string } {
  return user !== undefined && /^[\x20-\x7e]*$/.test(user) ? { 'x-spinnaker-user': user } : {};
}
