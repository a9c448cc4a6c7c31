import type { Authorizer, UserPermission } from '#access/authorizer.ts';
import type { Clock, Randomness } from '#core/clock.ts';
import { getErrorMessage } from '#core/errors.ts';
import type { Logger } from '#core/logger.ts';
import type { RememberedBytes } from '#core/remembered-bytes.ts';
import { createEmptyPermission } from './answers.ts';
import { anonymousUser, createFiatClient, type FiatClient } from './client.ts';
import { KeptPermissions } from './kept-permissions.ts';
import type { FiatSettings } from './settings.ts';
import { SharedRequests } from './shared-requests.ts';

/** Characters of a user's name. No mail address, no distinguished name of use is longer. */
export const userLengthMax = 1024;

/** A complaint is logged this often at most: milliseconds. */
export const complaintIntervalMs = 10_000;

/** A failure of Fiat this long ago says that the next question may fail, too: milliseconds. */
export const failingMs = 10_000;

/** While a stale permission may be used, Fiat is asked for its user this often at most: milliseconds. */
export const staleRetryMs = 5_000;

/** What an authorizer works with. */
export interface AuthorizerOptions {
  readonly client: FiatClient;
  readonly settings: Pick<FiatSettings, 'keptMs' | 'staleMs' | 'usersMax'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Logger;
  /** What this process may remember. Default: its own. */
  readonly remembered?: RememberedBytes;
}

/** What an authorizer with a client of its own works with. */
export interface OpenAuthorizerOptions {
  readonly clock: Clock;
  readonly randomness: Pick<Randomness, 'fraction'>;
  readonly log: Logger;
  readonly remembered?: RememberedBytes;
}

/** An authorizer that asks the Fiat of the settings. Disposing of it breaks its connections. */
export function openAuthorizer(
  settings: FiatSettings,
  { clock, randomness, ...others }: OpenAuthorizerOptions,
): Authorizer & AsyncDisposable {
  const { baseUrl, totalMs, retryDelayMs } = settings;
  const client = createFiatClient({ baseUrl, clock, randomness, limits: { totalMs, retryDelayMs } });
  return {
    ...createAuthorizer({ client, settings, clock, ...others }),
    [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
  };
}

/**
 * Tells what users may do, as Fiat says it: asked once for all who ask for a user at the same time, and kept. What Fiat does not say
 * nobody may do; where settings allow it, what it said some minutes ago holds while it cannot be asked.
 *
 * Where Fiat failed a moment ago, one try must do for the next question: so a long failure costs each request 2 seconds, not 10.
 */
export function createAuthorizer(options: AuthorizerOptions): Authorizer {
  const { client, settings, clock, log, remembered } = options;
  const { keptMs, staleMs, usersMax } = settings;
  const longestMs = keptMs + staleMs;
  const kept = new KeptPermissions({ clock, usersMax, longestMs, ...(remembered && { remembered }) });
  const questions = new SharedRequests<UserPermission>();
  const complaints = new Complaints(clock, log);

  async function ask(user: string | undefined, signal: AbortSignal): Promise<UserPermission> {
    const name = user ?? anonymousUser;
    try {
      const permission = await client.getPermission(user, { signal, isOnce: complaints.areFresh });
      complaints.end();
      if (permission === undefined) complaints.tellOfStranger(name);
      return keep(name, permission ?? createEmptyPermission(name));
    } catch (error) {
      // Nobody waits any more: that says nothing of Fiat.
      if (signal.aborted) throw error;
      const stale = kept.find(name, keptMs + staleMs);
      complaints.add(error, stale !== undefined);
      if (stale === undefined) throw error;
      kept.recordFailure(name);
      return stale;
    }
  }

  function keep(name: string, permission: UserPermission): UserPermission {
    kept.keep(name, permission);
    return permission;
  }

  /** A stale permission whose user was asked for a moment ago. */
  function findStale(name: string): UserPermission | undefined {
    return kept.hasFailed(name, staleRetryMs) ? kept.find(name, keptMs + staleMs) : undefined;
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

/** Whether somebody can have the name. `.` and `..` would be taken for steps of the path in which it stands. */
function isPossible(name: string): boolean {
  if (name.length > userLengthMax || !name.isWellFormed() || /^\.{1,2}$/.test(name)) return false;
  return !/\p{Cc}/u.test(name);
}

/** What the log is told of Fiat: its failures, once in a while. */
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

  /** Whether the last question failed, and that a moment ago. */
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

  /** A wrong base URL leads here, too: then it is every user. */
  tellOfStranger(user: string): void {
    if (this.#getAge(this.#strangerAtMs) < complaintIntervalMs) return;
    this.#strangerAtMs = this.#clock.now();
    this.#log.info('Fiat does not know a user, who may do nothing', { user });
  }

  #getAge(sinceMs: number): number {
    return Math.abs(this.#clock.now() - sinceMs);
  }
}
