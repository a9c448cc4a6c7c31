import type { Clock } from '#core/clock.ts';
import { within } from '#core/deadline.ts';
import { getErrorMessage } from '#core/errors.ts';
import type { Logger } from '#core/logger.ts';
import type { Meter } from '#core/meter.ts';
import {
  type AccountHealth,
  type AccountHealthStore,
  type BreakerState,
  healthIntervalMs,
} from './account-health.ts';
import { toRegionalName } from './regional-health.ts';

/** Consecutive calls without a connection, within {@link breakerWindowMs}, after which an account is not called any more. */
export const connectionFailuresMax = 5;

/** Milliseconds within which these must have failed. */
export const breakerWindowMs = 30_000;

/** Milliseconds between two probes of a server that is not called. */
export const probePauseMs = 2_000;

/** Milliseconds between two reads of what others know of an account because a call failed, at least. */
const lookPauseMs = 1_000;

/** Milliseconds between two writes without a change of the breaker's state, at least. */
const writePauseMs = 10_000;

/** Milliseconds that the store gets: a call waits for it when the breaker's state changes. */
const storeMs = 2_000;

/** Characters of a reason. */
const reasonMax = 500;

/** Characters of a warning. */
const warningMax = 2_000;

interface AccountBreakerOptions {
  readonly account: string;
  /** The region that it is of, for an account that is called by regions. Default: it is of the whole account. */
  readonly region?: string | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  /** Takes how long calls took. Default: nobody does. */
  readonly meter?: Meter | undefined;
  /** The W3C `traceparent` of the present work, which calls of the server carry on. Default: there is none. */
  readonly findTraceparent?: (() => string | undefined) | undefined;
  /** Opens the store that processes share. Default: each knows only its own calls. */
  readonly openStore?: (() => Promise<AccountHealthStore>) | undefined;
}

/**
 * A circuit breaker of one account, or of one of its regions, in one process: knows whether its server can be reached, and shares that
 * with other processes. After a few consecutive calls without a connection calls fail at once, while one call at a time probes whether the
 * server is back.
 *
 * What counts is whether a server answers, not how: status 500 is an answer.
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
  /** What the store is known to hold. */
  #told: AccountHealth | undefined;
  #lookedAt = Number.NEGATIVE_INFINITY;
  /** Whether the store could not be read at the last attempt. */
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

  /** Takes how long calls of the server took; undefined where nobody does. */
  get meter(): Meter | undefined {
    return this.#options.meter;
  }

  /** The header `traceparent` of a call that is made now; undefined where the work has none. */
  get traceparent(): string | undefined {
    return this.#options.findTraceparent?.();
  }

  /** Whether calls are to fail at once. */
  get isOpen(): boolean {
    return this.#breaker === 'open';
  }

  /** Whether at the last call the server refused the account's credentials, or there were none. */
  get lacksCredentials(): boolean {
    return this.#lacksCredentials;
  }

  /** Why calls fail at once, and since when. */
  get downReason(): string {
    return `${this.#reason ?? 'it cannot be reached'}; it is left alone since ${new Date(this.#sinceMs).toISOString()}`;
  }

  /** The health of the account, as far as this process knows. */
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
   * Learns what other processes know, unless this one read it within that time. Undefined where there is nothing to wait for. Never
   * rejects.
   *
   * @param maxAgeMs default: once and for all
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

  /** The same for callers that can wait, where the account has not answered within that time. */
  learnUnlessBusy(maxAgeMs: number): Promise<void> | undefined {
    const { clock } = this.#options;
    if (this.isOpen || clock.monotonic() - this.#answeredAt < maxAgeMs) return undefined;
    return this.learn(maxAgeMs);
  }

  /** When its credentials were last accepted, wall time in ms: now where that is unreadable, undefined for never. Never rejects. */
  async findLastSuccessMs(): Promise<number | undefined> {
    // The store may have been unavailable when this process first asked it.
    if (this.#lastSuccessMs === undefined) await this.learn(0);
    return this.#lastSuccessMs ?? (this.#isUnread ? this.#options.clock.now() : undefined);
  }

  /** True for the one caller that is to probe the server now. @param pauseMs since the last probe */
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

  /** The server is alive: calls are made again, and the first failure stops them. */
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

  /** It cannot be called by its own settings. One that is left alone stays so. Undefined where there is nothing to wait for. */
  noteMistake(reason: string): Promise<void> | undefined {
    return this.#breaker === 'closed' ? this.#become('closed', reason) : undefined;
  }

  /** A call found no connection. */
  async noteFailure(reason: string): Promise<void> {
    const now = this.#options.clock.monotonic();
    this.#failures = [...this.#failures.filter((at) => now - at < breakerWindowMs), now];
    if (this.#breaker === 'closed') await this.learn(lookPauseMs);
    const isDown = this.#breaker !== 'closed' || this.#failures.length >= connectionFailuresMax;
    await this.#become(isDown ? 'open' : 'closed', reason);
  }

  /** What the server refuses of what the account's settings ask for; empty for nothing. Undefined where there is nothing to wait for. */
  noteWarning(warning: string): Promise<void> | undefined {
    this.#warning = warning.slice(0, warningMax);
    return this.#report();
  }

  /** A probe found the server dead. */
  noteDeath(reason: string): Promise<void> | undefined {
    this.#probedAt = this.#options.clock.monotonic();
    return this.#become('open', reason);
  }

  /** Its name in the store. */
  get #name(): string {
    const { account, region } = this.#options;
    return toRegionalName(account, region);
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
    const { account, region, log } = this.#options;
    const what = { account, ...(region !== undefined && { region }) };
    if (this.isOpen) log.warn('an account cannot be reached', { ...what, reason: this.#reason });
    else log.info('an account can be reached again', what);
  }

  async #look(): Promise<void> {
    const { clock, account, log, openStore } = this.#options;
    this.#lookedAt = clock.monotonic();
    try {
      const seen = await within(clock, { ms: storeMs, what: 'reading how an account is' }, async () =>
        (await openStore?.())?.find(this.#name),
      );
      this.#isUnread = false;
      if (seen !== undefined) this.#take(seen);
    } catch (error) {
      this.#isUnread = true;
      log.warn('how an account is cannot be read', { account, cause: getErrorMessage(error) });
    }
  }

  /** Takes over what another process found out; newer findings of this one stay. */
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
    // A caller that finds no change waits for nothing.
    return this.#isNewToOthers() ? this.#writing : undefined;
  }

  /** Whether other processes know another state of the breaker. */
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

  /** Changes during a write are written after it. */
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

  /** Writes nothing where another process has just done so. */
  async #write(store: AccountHealthStore): Promise<void> {
    const seen = await store.find(this.#name);
    const warning = this.#warning ?? seen?.warning ?? '';
    const { warning: _, ...health } = this.health;
    const isSame = seen?.state === health.state && seen.breaker === health.breaker;
    if (isSame) this.#sinceMs = Math.min(this.#sinceMs, seen.sinceMs);
    const isRecent = Math.abs(health.checkedAtMs - (seen?.checkedAtMs ?? 0)) < healthIntervalMs;
    if (isSame && isRecent && warning === (seen.warning ?? '')) {
      this.#told = seen;
      return;
    }
    // A process that never had an answer itself keeps those of others.
    const { lastSuccessMs = seen?.lastSuccessMs } = health;
    const known = lastSuccessMs !== undefined && { lastSuccessMs };
    const told = { ...health, ...known, sinceMs: this.#sinceMs, ...(warning && { warning }) };
    await store.put(this.#name, told);
    this.#told = told;
  }
}

interface KnownBreaker {
  readonly target: string;
  readonly breaker: WeakRef<AccountBreaker>;
}

/** The breakers of a process, by what they guard. Unused ones are forgotten: accounts come and go. */
export class AccountBreakers {
  readonly #options: Omit<AccountBreakerOptions, 'account' | 'region'>;
  readonly #breakers = new Map<string, KnownBreaker>();
  readonly #unused = new FinalizationRegistry<readonly [string, KnownBreaker]>(([name, known]) => {
    if (this.#breakers.get(name) === known) this.#breakers.delete(name);
  });

  constructor(options: Omit<AccountBreakerOptions, 'account' | 'region'>) {
    this.#options = options;
  }

  /**
   * The breaker of an account, or of one of its regions, the same while its server is.
   *
   * @param target identifies the server. It is kept: no secrets
   * @param region of an account that is called by regions. Default: there is one breaker of the account
   */
  get(account: string, target: string, region?: string): AccountBreaker {
    const name = toRegionalName(account, region);
    const known = this.#breakers.get(name);
    const used = known?.target === target ? known.breaker.deref() : undefined;
    if (used !== undefined) return used;
    const breaker = new AccountBreaker({ ...this.#options, account, region });
    const entry = { target, breaker: new WeakRef(breaker) };
    this.#breakers.set(name, entry);
    this.#unused.register(breaker, [name, entry]);
    return breaker;
  }
}
