import type { Clock } from '#core/clock.ts';
import { within } from '#core/deadline.ts';
import { getErrorMessage } from '#core/errors.ts';
import type { Logger } from '#core/logger.ts';
import {
  type AccountHealth,
  type AccountHealthStore,
  type BreakerState,
  healthIntervalMs,
} from './account-health.ts';

/** Calls in a row that found no server, within {@link breakerWindowMs}, after which an account is left alone. */
export const connectionFailuresMax = 5;

/** Milliseconds within which they must have failed. */
export const breakerWindowMs = 30_000;

/** A server that is left alone is asked whether it is alive no sooner than this after the last time, in milliseconds. */
export const probePauseMs = 2_000;

/** What others know of an account is looked at no more often than this because a call failed, in milliseconds. */
const lookPauseMs = 1_000;

/** Changes that are no change of the breaker are written no more often than this, in milliseconds. */
const writePauseMs = 10_000;

/** Milliseconds that the store gets: a call waits for it where the breaker changes. */
const storeMs = 2_000;

/** Characters of a reason. */
const reasonMax = 500;

/** Characters of a warning. */
const warningMax = 2_000;

/** What a breaker works with. */
export interface AccountBreakerOptions {
  readonly account: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Opens what processes share. Default: each knows for itself. */
  readonly openStore?: (() => Promise<AccountHealthStore>) | undefined;
}

/**
 * Knows of one account in one process whether its server can be reached, and tells the other processes. Once it could not be reached a
 * few times in a row nobody waits for it any more: calls fail at once, while one call at a time finds out whether it is back.
 *
 * What counts is whether a server answers, not what: an answer of status 500 is one.
 */
export class AccountBreaker {
  readonly #options: AccountBreakerOptions;
  #breaker: BreakerState = 'closed';
  #reason: string | undefined;
  /** Undefined where another process may know. */
  #warning: string | undefined;
  #sinceMs: number;
  #checkedAtMs = 0;
  #lastSuccessMs: number | undefined;
  #lacksCredentials = false;
  /** Monotonic times of the failures since the last answer. */
  #failures: number[] = [];
  #probedAt = Number.NEGATIVE_INFINITY;
  /** What the store is known to have. */
  #told: AccountHealth | undefined;
  #lookedAt = Number.NEGATIVE_INFINITY;
  /** Whether the store could not be read when it was looked at last. */
  #isUnread = false;
  #wroteAt = Number.NEGATIVE_INFINITY;
  #answeredAt = Number.NEGATIVE_INFINITY;
  #missedAt = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | undefined;
  #writing: Promise<void> | undefined;

  constructor(options: AccountBreakerOptions) {
    this.#options = options;
    this.#sinceMs = options.clock.now();
  }

  /** Whether calls are to fail at once. */
  get isOpen(): boolean {
    return this.#breaker === 'open';
  }

  /** Whether the server refused the account's credentials, or there were none, when it was called last. */
  get lacksCredentials(): boolean {
    return this.#lacksCredentials;
  }

  /** Why calls fail at once, and since when. */
  get downReason(): string {
    return `${this.#reason ?? 'it cannot be reached'}; it is left alone since ${new Date(this.#sinceMs).toISOString()}`;
  }

  /** How the account is, as far as this process knows. */
  get health(): AccountHealth {
    const warning = this.#warning ?? this.#told?.warning;
    return {
      state: this.#getState(),
      ...(this.#reason !== undefined && { reason: this.#reason }),
      sinceMs: this.#sinceMs,
      checkedAtMs: this.#checkedAtMs,
      ...(this.#lastSuccessMs !== undefined && { lastSuccessMs: this.#lastSuccessMs }),
      breaker: this.#breaker,
      ...(warning && { warning }),
    };
  }

  /**
   * Learns what other processes know, unless this one looked within that time. Undefined where there is nothing to wait for. Never
   * rejects.
   *
   * @param maxAgeMs default: once for all
   */
  learn(maxAgeMs = Number.POSITIVE_INFINITY): Promise<void> | undefined {
    if (this.#options.openStore === undefined) return undefined;
    if (this.#looking === undefined && this.#options.clock.monotonic() - this.#lookedAt < maxAgeMs)
      return undefined;
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  /** The same for who could wait, where the account has not answered within that time. */
  learnUnlessBusy(maxAgeMs: number): Promise<void> | undefined {
    const { clock } = this.#options;
    if (this.isOpen || clock.monotonic() - this.#answeredAt < maxAgeMs) return undefined;
    return this.learn(maxAgeMs);
  }

  /**
   * When the server answered to the account's credentials last, wall time in milliseconds: now where that cannot be read, undefined where it
   * never did. Never rejects.
   */
  async findLastSuccessMs(): Promise<number | undefined> {
    // The store may have been away when this process asked it first.
    if (this.#lastSuccessMs === undefined) await this.learn(0);
    return this.#lastSuccessMs ?? (this.#isUnread ? this.#options.clock.now() : undefined);
  }

  /** True for the one caller who is to ask now whether the server is alive. @param pauseMs since it was asked last */
  takeProbe(pauseMs = probePauseMs): boolean {
    const now = this.#options.clock.monotonic();
    if (now - this.#probedAt < pauseMs) return false;
    this.#probedAt = now;
    return true;
  }

  /** A call was answered, whatever the answer. Undefined where there is nothing to wait for; never rejects. */
  noteAnswer(): Promise<void> | undefined {
    this.#lastSuccessMs = this.#options.clock.now();
    this.#answeredAt = this.#options.clock.monotonic();
    this.#lacksCredentials = false;
    this.#failures = [];
    return this.#become('closed', undefined);
  }

  /** The server said that it is alive: calls are made again, and the first one that fails is enough to stop that. */
  noteAlive(): Promise<void> | undefined {
    return this.#breaker === 'open' ? this.#become('half-open', this.#reason) : undefined;
  }

  /** The server answered, and refuses the account. */
  noteRefusal(reason: string): Promise<void> | undefined {
    this.#lacksCredentials = true;
    this.#failures = [];
    return this.#become('closed', reason);
  }

  /** There are no credentials to call the server with. */
  noteMissingCredentials(): void {
    this.#lacksCredentials = true;
  }

  /** No connection came about. */
  async noteFailure(reason: string): Promise<void> {
    const now = this.#options.clock.monotonic();
    this.#failures = [...this.#failures.filter((at) => now - at < breakerWindowMs), now];
    if (this.#breaker === 'closed') await this.learn(lookPauseMs);
    const isDown = this.#breaker !== 'closed' || this.#failures.length >= connectionFailuresMax;
    await this.#become(isDown ? 'open' : 'closed', reason);
  }

  /** What the server refuses that the account's settings ask for; empty for nothing. Undefined where there is nothing to wait for. */
  noteWarning(warning: string): Promise<void> | undefined {
    this.#warning = warning.slice(0, warningMax);
    return this.#report();
  }

  /** The server was found dead. */
  noteDeath(reason: string): Promise<void> | undefined {
    this.#probedAt = this.#options.clock.monotonic();
    return this.#become('open', reason);
  }

  #getState(): AccountHealth['state'] {
    if (this.#breaker !== 'closed') return 'DOWN';
    return this.#reason === undefined ? 'UP' : 'DEGRADED';
  }

  #become(breaker: BreakerState, reason: string | undefined): Promise<void> | undefined {
    const before = this.#getState();
    const wasOpen = this.#breaker === 'open';
    this.#breaker = breaker;
    this.#reason = reason?.slice(0, reasonMax);
    this.#checkedAtMs = this.#options.clock.now();
    if (this.#getState() !== before) this.#sinceMs = this.#checkedAtMs;
    if (wasOpen !== (breaker === 'open')) this.#log();
    return this.#report();
  }

  #log(): void {
    const { account, log } = this.#options;
    if (this.isOpen) log.warn('an account cannot be reached', { account, reason: this.#reason });
    else log.info('an account can be reached again', { account });
  }

  async #look(): Promise<void> {
    const { clock, account, log, openStore } = this.#options;
    this.#lookedAt = clock.monotonic();
    try {
      const seen = await within(clock, { ms: storeMs, what: 'reading how an account is' }, async () =>
        (await openStore?.())?.find(account),
      );
      this.#isUnread = false;
      if (seen !== undefined) this.#take(seen);
    } catch (error) {
      this.#isUnread = true;
      log.warn('how an account is cannot be read', { account, cause: getErrorMessage(error) });
    }
  }

  /** What another process found out; what this one has found out since, stays. */
  #take(seen: AccountHealth): void {
    this.#told = seen;
    if (this.#lastSuccessMs === undefined) this.#lastSuccessMs = seen.lastSuccessMs;
    if (this.#checkedAtMs > seen.checkedAtMs && this.#breaker !== 'closed') return;
    const isNews = this.#lastSuccessMs === undefined || this.#lastSuccessMs <= seen.checkedAtMs;
    if (!isNews || seen.breaker !== 'open') return;
    this.#breaker = 'open';
    this.#reason = seen.reason;
    this.#sinceMs = seen.sinceMs;
    this.#checkedAtMs = seen.checkedAtMs;
  }

  #report(): Promise<void> | undefined {
    const { openStore } = this.#options;
    if (openStore === undefined || !this.#isReportDue()) return undefined;
    this.#writing ??= this.#writeAll(openStore).finally(() => {
      this.#writing = undefined;
    });
    // Whoever finds an account as it was waits for nobody.
    return this.#isNewToOthers() ? this.#writing : undefined;
  }

  /** Whether other processes take it for another breaker than it is. */
  #isNewToOthers(): boolean {
    return (this.#told?.breaker ?? 'closed') !== this.#breaker;
  }

  #isReportDue(): boolean {
    const told = this.#told;
    const now = this.#options.clock.monotonic();
    if (now - this.#missedAt < writePauseMs) return false;
    if (this.#isNewToOthers()) return true;
    if (this.#warning !== undefined && this.#warning !== (told?.warning ?? '')) return true;
    if (now - this.#wroteAt < writePauseMs) return false;
    if (told === undefined || told.state !== this.#getState()) return true;
    return Math.abs(this.#checkedAtMs - told.checkedAtMs) >= healthIntervalMs;
  }

  /** What changes while it is written, is written behind it. */
  async #writeAll(openStore: () => Promise<AccountHealthStore>): Promise<void> {
    const { clock, account, log } = this.#options;
    try {
      do {
        this.#wroteAt = clock.monotonic();
        await within(clock, { ms: storeMs, what: 'telling how an account is' }, async () =>
          this.#write(await openStore()),
        );
      } while (this.#told?.breaker !== this.#breaker);
    } catch (error) {
      this.#missedAt = clock.monotonic();
      log.warn('how an account is cannot be told', { account, cause: getErrorMessage(error) });
    }
  }

  /** Nothing is written where another process has just done so. */
  async #write(store: AccountHealthStore): Promise<void> {
    const { account } = this.#options;
    const seen = await store.find(account);
    const warning = this.#warning ?? seen?.warning ?? '';
    const { warning: _, ...health } = this.health;
    const isSame = seen?.state === health.state && seen.breaker === health.breaker;
    if (isSame) this.#sinceMs = Math.min(this.#sinceMs, seen.sinceMs);
    const isRecent = Math.abs(health.checkedAtMs - (seen?.checkedAtMs ?? 0)) < healthIntervalMs;
    if (isSame && isRecent && warning === (seen.warning ?? '')) {
      this.#told = seen;
      return;
    }
    // A process that never had an answer itself does not deny those of others.
    const { lastSuccessMs = seen?.lastSuccessMs } = health;
    const known = lastSuccessMs !== undefined && { lastSuccessMs };
    const told = { ...health, ...known, sinceMs: this.#sinceMs, ...(warning && { warning }) };
    await store.put(account, told);
    this.#told = told;
  }
}

/** What is known of an account's breaker. */
interface KnownBreaker {
  readonly target: string;
  readonly breaker: WeakRef<AccountBreaker>;
}

/** The breakers of a process, by what they guard. Those that nobody uses any more are forgotten: accounts come and go. */
export class AccountBreakers {
  readonly #options: Omit<AccountBreakerOptions, 'account'>;
  readonly #breakers = new Map<string, KnownBreaker>();
  readonly #unused = new FinalizationRegistry<readonly [string, KnownBreaker]>(([account, known]) => {
    if (this.#breakers.get(account) === known) this.#breakers.delete(account);
  });

  constructor(options: Omit<AccountBreakerOptions, 'account'>) {
    this.#options = options;
  }

  /**
   * The breaker of an account, the same for as long as it leads to the same server and anybody has it.
   *
   * @param target says where it leads. It is kept: no secrets
   */
  get(account: string, target: string): AccountBreaker {
    const known = this.#breakers.get(account);
    const used = known?.target === target ? known.breaker.deref() : undefined;
    if (used !== undefined) return used;
    const breaker = new AccountBreaker({ ...this.#options, account });
    const entry = { target, breaker: new WeakRef(breaker) };
    this.#breakers.set(account, entry);
    this.#unused.register(breaker, [account, entry]);
    return breaker;
  }
}
