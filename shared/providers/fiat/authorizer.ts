import type { Authorizer, UserPermission } from '#access/authorizer.ts';
import type { Clock } from '#core/clock.ts';
import { getErrorMessage } from '#core/errors.ts';
import type { Logger } from '#core/logger.ts';
import type { RememberedBytes } from '#core/remembered-bytes.ts';
import type { ProviderContext } from '#provider-kit/provider.ts';
import { createEmptyPermission } from './answers.ts';
import { anonymousUser, createFiatClient, type FiatClient } from './client.ts';
import { KeptPermissions } from './kept-permissions.ts';
import type { FiatSettings } from './settings.ts';
import { SharedRequests } from './shared-requests.ts';

/** The most characters of a user's name. No usable mail address or distinguished name is longer. */
export const userLengthMax = 1024;

/** The shortest time between two logs of a complaint, milliseconds. */
export const complaintIntervalMs = 10_000;

/** How long a failure of Fiat suggests that the next request may fail, too, milliseconds. */
export const failingMs = 10_000;

/** While a stale permission may be used, the shortest time between two requests for its user, milliseconds. */
export const staleRetryMs = 5_000;

/** The options of an authorizer. */
export interface AuthorizerOptions {
  readonly client: FiatClient;
  readonly settings: Pick<FiatSettings, 'keptMs' | 'staleMs' | 'usersMax'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Logger;
  /** What this process may remember. Default: its own. */
  readonly remembered?: RememberedBytes | undefined;
}

/** An authorizer that asks the Fiat of the settings. Disposing of it cuts its connections. */
export function openAuthorizer(
  settings: FiatSettings,
  { clock, randomness, log, remembered }: ProviderContext,
): Authorizer & AsyncDisposable {
  const { baseUrl, totalMs, retryDelayMs } = settings;
  const client = createFiatClient({ baseUrl, clock, randomness, limits: { totalMs, retryDelayMs } });
  return {
    ...createAuthorizer({ client, settings, clock, log, remembered }),
    [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
  };
}

/**
 * Returns what users may do according to Fiat. Simultaneous callers share one request for a user, and the answer is kept. What Fiat does
 * not grant is forbidden. If settings allow it, answers some minutes old stay valid while Fiat is unavailable.
 *
 * If Fiat failed a moment ago, the next request gets only one try, so that a long failure costs each request 2 seconds, not 10.
 */
export function createAuthorizer(options: AuthorizerOptions): Authorizer {
  const { client, settings, clock, log, remembered } = options;
  const { keptMs, staleMs, usersMax } = settings;
  const longestMs = keptMs + staleMs;
  const kept = new KeptPermissions({ clock, usersMax, longestMs, remembered });
  const questions = new SharedRequests<UserPermission>();
  const complaints = new Complaints(clock, log);

  async function ask(user: string | undefined, signal: AbortSignal): Promise<UserPermission> {
    const name = user ?? anonymousUser;
    try {
      const permission = await client.getPermission(user, { signal, isOnce: complaints.areFresh });
      complaints.end();
      if (permission === undefined) complaints.tellOfStranger(name);
      return kept.keep(name, permission ?? createEmptyPermission(name));
    } catch (error) {
      // No caller waits any more: that says nothing of Fiat.
      if (signal.aborted) throw error;
      const stale = kept.find(name, longestMs);
      complaints.add(error, stale !== undefined);
      if (stale === undefined) throw error;
      kept.recordFailure(name);
      return stale;
    }
  }

  /** The stale permission of a user for whom Fiat was asked a moment ago. */
  function findStale(name: string): UserPermission | undefined {
    return kept.hasFailed(name, staleRetryMs) ? kept.find(name, longestMs) : undefined;
  }

  return {
    async getPermission(given, signal) {
      const user = given === '' ? undefined : given;
      const name = user ?? anonymousUser;
      if (!isPossible(name)) return createEmptyPermission(name.slice(0, userLengthMax));
      const known = kept.find(name, keptMs) ?? findStale(name);
      return known ?? (await questions.ask(name, { ask: (unwanted) => ask(user, unwanted), signal }));
    },
  };
}

/** Whether a user can have the name. `.` and `..` would act as segments of the path that contains it. */
function isPossible(name: string): boolean {
  if (name.length > userLengthMax || !name.isWellFormed() || /^\.{1,2}$/.test(name)) return false;
  return !/\p{Cc}/u.test(name);
}

/** Logs Fiat's failures, once in a while. */
class Complaints {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #log: Logger;
  #failures = 0;
  #lastFailureMs = Number.NEGATIVE_INFINITY;
  #toldAtMs = Number.NEGATIVE_INFINITY;
  #strangerAtMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Pick<Clock, 'now'>, log: Logger) {
    this.#clock = clock;
    this.#log = log;
  }

  /** Whether the last request failed, a moment ago. */
  get areFresh(): boolean {
    return this.#failures > 0 && this.#getAge(this.#lastFailureMs) < failingMs;
  }

  add(error: unknown, isStaleUsed: boolean): void {
    this.#failures += 1;
    this.#lastFailureMs = this.#clock.now();
    if (this.#getAge(this.#toldAtMs) < complaintIntervalMs) return;
    this.#toldAtMs = this.#clock.now();
    const consequence = isStaleUsed ? 'former permissions are used' : 'requests are refused';
    this.#log.warn(`Fiat does not tell what users may do: ${consequence}`, {
      reason: getErrorMessage(error),
      failures: this.#failures,
    });
  }

  end(): void {
    if (this.#failures > 0) this.#log.info('Fiat answers again', { failures: this.#failures });
    this.#failures = 0;
  }

  /** A wrong base URL has the same effect, then for every user. */
  tellOfStranger(user: string): void {
    if (this.#getAge(this.#strangerAtMs) < complaintIntervalMs) return;
    this.#strangerAtMs = this.#clock.now();
    this.#log.info('Fiat does not know a user, who may do nothing', { user });
  }

  #getAge(sinceMs: number): number {
    return Math.abs(this.#clock.now() - sinceMs);
  }
}
