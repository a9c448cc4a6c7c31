import { isDeepStrictEqual } from 'node:util';
import type { Clock, Randomness } from '../../core/clock.ts';
import { getErrorMessage, UnavailableError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Logger } from '../../core/logger.ts';
import type { ProviderSet } from '../../core/providers/provider-set.ts';
import type { RejectedAccount } from '../../core/settings/account.ts';
import {
  AuthorizationSettingsError,
  hasSameAuthorization,
  isFiatEnabled,
  withFiatOf,
} from './authorization-settings.ts';

/** What was made of the texts of settings. */
export interface ParsedSettings {
  /** The merged Spinnaker configuration. */
  readonly settings: JsonObject;
  /** Accounts that are left out whatever their provider says, and why. */
  readonly rejectedAccounts: readonly RejectedAccount[];
}

/** Where settings and providers come from. `Texts` is what is read; it is compared with what was read before. */
export interface SettingsSource<Texts = unknown> {
  /** The texts of the settings, read anew. */
  read(): Promise<Texts>;
  /** One configuration of them. @throws AuthorizationSettingsError where nobody may be let in; other errors for bad ones. */
  parse(texts: Texts): ParsedSettings;
  /** Opens providers, which makes no call. @throws Error for settings that no provider can work with. */
  open(parsed: ParsedSettings): ProviderSet;
}

/** How to follow settings. */
export interface LiveProvidersOptions {
  readonly source: SettingsSource;
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
  readonly randomness: Pick<Randomness, 'fraction'>;
  readonly log: Logger;
  /** Milliseconds between two readings, give or take a fifth, so that processes do not read all at once. */
  readonly intervalMs: number;
  /** Settings of this age, in milliseconds, are not used before a new reading has ended or has taken 3 s. Default 10 minutes. */
  readonly staleAgeMs?: number;
}

/** Providers and the settings that they were opened with. */
export interface OpenedProviders {
  readonly providers: ProviderSet;
  /** The merged Spinnaker configuration. */
  readonly settings: JsonObject;
}

/** The age from which settings are not used before a new reading has ended … */
const defaultStaleAgeMs = 600_000;
/** … or has taken this long. */
const staleWaitMs = 3_000;

/** Pause between readings while there are no settings to go on with, or where somebody has reason to ask for newer ones. */
const pauseMs = 10_000;

/** A complaint that is still true is logged again after this long. */
const complaintIntervalMs = 120_000;

/** Providers out of force stay open this long for who still uses them: no invocation of Lambda lasts longer than 15 minutes. */
const retirementMs = 20 * 60_000;

/**
 * The providers of a process, opened anew when their settings change. A request that has some uses them to its end, whatever
 * happens meanwhile. Bad settings change nothing: the last good ones stay in force, and the log says what is wrong; but where
 * they are bad in what they say of authorization, those before them are put out of force, too.
 *
 * Once Fiat was on it stays on: settings that turn it off are obeyed by the next process.
 *
 * Lambda stops a process between its invocations, so nothing here runs by a timer: whoever comes when a reading is due
 * starts it, and goes on with what there is.
 */
export class LiveProviders implements AsyncDisposable {
  readonly #options: LiveProvidersOptions;
  #current: OpenedProviders | undefined;
  #retired: readonly { readonly providers: ProviderSet; readonly sinceMs: number }[] = [];
  #texts: unknown;
  #parsed: ParsedSettings | undefined;
  /** The last settings that were in force with Fiat. */
  #withFiat: JsonObject | undefined;
  /** What is wrong with those texts. */
  #problem: unknown;
  /** Why they could not be read again. */
  #failure: unknown;
  #reading: Promise<void> | undefined;
  #readAtMs = Number.NEGATIVE_INFINITY;
  #startedAtMs = Number.NEGATIVE_INFINITY;
  #intervalMs = 0;
  #complaint = { message: '', atMs: Number.NEGATIVE_INFINITY };

  constructor(options: LiveProvidersOptions) {
    this.#options = options;
  }

  /**
   * The providers in force.
   *
   * @throws UnavailableError with the reason when there are none: the first settings are of no use, or newer ones in what they say of
   *   authorization.
   */
  async get(): Promise<OpenedProviders> {
    if (this.#getAge(this.#startedAtMs) >= this.#intervalMs) this.#startReading();
    if (this.#current === undefined) await this.#reading;
    else if (this.#isStale()) await this.#waitForReading();
    if (this.#current !== undefined) return this.#current;
    const cause = this.#problem ?? this.#failure;
    throw new UnavailableError(`The settings cannot be used: ${getErrorMessage(cause)}`, { cause });
  }

  /**
   * Reads the settings now, unless that was done within the last ten seconds: for who finds that they may have changed. What
   * is in force afterwards, `get` answers.
   */
  async refresh(): Promise<void> {
    if (this.#getAge(this.#startedAtMs) >= pauseMs) this.#startReading();
    await this.#reading;
  }

  /** Why the settings, as they were read last, are not those in force; undefined when they are, and before the first reading. */
  get problem(): unknown {
    return this.#failure ?? this.#problem;
  }

  /** Closes all providers, those out of force too. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#reading;
    this.#replace(undefined);
    await this.#closeRetired(0);
  }

  /** By wall time: a monotonic clock may stand still with the process. One turned back counts as time passed. */
  #getAge(sinceMs: number): number {
    return Math.abs(this.#options.clock.now() - sinceMs);
  }

  #isStale(): boolean {
    return this.#getAge(this.#readAtMs) >= (this.#options.staleAgeMs ?? defaultStaleAgeMs);
  }

  #startReading(): void {
    if (this.#reading !== undefined) return;
    const { clock, intervalMs, randomness } = this.#options;
    this.#startedAtMs = clock.now();
    this.#intervalMs = intervalMs * (0.8 + 0.4 * randomness.fraction());
    this.#reading = this.#read().finally(() => {
      this.#reading = undefined;
      if (this.#current === undefined) this.#intervalMs = Math.min(pauseMs, this.#intervalMs);
    });
  }

  async #waitForReading(): Promise<void> {
    if (this.#reading === undefined) return;
    const waiting = new AbortController();
    const enough = this.#options.clock.sleep(staleWaitMs, waiting.signal).catch(() => undefined);
    await Promise.race([this.#reading, enough]);
    waiting.abort();
  }

  /** Never rejects. */
  async #read(): Promise<void> {
    void this.#closeRetired(retirementMs);
    try {
      const texts = await this.#options.source.read();
      this.#readAtMs = this.#options.clock.now();
      this.#failure = undefined;
      if (!isDeepStrictEqual(texts, this.#texts)) this.#adopt(texts);
      else if (this.#problem !== undefined) this.#complain(this.#problem);
    } catch (error) {
      this.#failure = error;
      const isHarmless = this.#current !== undefined && !this.#isStale();
      this.#complain(error, isHarmless ? 'warn' : 'error');
    }
  }

  #adopt(texts: unknown): void {
    this.#texts = texts;
    let settings: JsonObject | undefined;
    try {
      const parsed = this.#options.source.parse(texts);
      settings = this.#keepFiat(parsed.settings);
      this.#open({ ...parsed, settings });
      if (isFiatEnabled(settings)) this.#withFiat = settings;
      this.#problem = undefined;
    } catch (error) {
      this.#problem = error;
      if (error instanceof AuthorizationSettingsError || this.#isAuthorizationOther(settings)) {
        this.#replace(undefined);
      }
      this.#complain(error);
    }
  }

  /** Who writes settings could else open at once, in all processes, what Fiat closes. */
  #keepFiat(settings: JsonObject): JsonObject {
    if (isFiatEnabled(settings) || this.#withFiat === undefined) return settings;
    this.#options.log.warn(
      'the settings turn Fiat off, which is obeyed after a restart only: it is still asked',
    );
    return withFiatOf(settings, this.#withFiat);
  }

  /** Whether settings that no provider can work with ask for other authorization than those in force. */
  #isAuthorizationOther(settings: JsonObject | undefined): boolean {
    if (settings === undefined || this.#current === undefined) return false;
    return !hasSameAuthorization(settings, this.#current.settings);
  }

  /** A change of comments, or of a kubeconfig's tokens, is none of the settings: connections stay open. */
  #open(parsed: ParsedSettings): void {
    const before = this.#current;
    if (before !== undefined && isDeepStrictEqual(parsed, this.#parsed)) return;
    const { log, source } = this.#options;
    const providers = source.open(parsed);
    for (const { name, reason } of providers.rejectedAccounts)
      log.warn('account left out', { account: name, reason });
    this.#replace({ providers, settings: parsed.settings });
    this.#parsed = parsed;
    if (before !== undefined) log.info('the settings have changed', { accounts: providers.accounts.length });
  }

  #replace(next: OpenedProviders | undefined): void {
    if (this.#current !== undefined) {
      const retired = { providers: this.#current.providers, sinceMs: this.#options.clock.now() };
      this.#retired = [...this.#retired, retired];
    }
    this.#current = next;
  }

  /** Closes the providers that have been out of force for so long. Never rejects. */
  async #closeRetired(ageMs: number): Promise<void> {
    const { true: old = [], false: young = [] } = Object.groupBy(this.#retired, ({ sinceMs }) =>
      this.#getAge(sinceMs) >= ageMs ? 'true' : 'false',
    );
    this.#retired = young;
    const closings = await Promise.allSettled(old.map(({ providers }) => providers[Symbol.asyncDispose]()));
    for (const closing of closings) {
      if (closing.status === 'rejected')
        this.#options.log.warn('providers could not be closed', { error: closing.reason });
    }
  }

  #complain(error: unknown, level: 'warn' | 'error' = 'error'): void {
    const message = getErrorMessage(error);
    const isKnown = message === this.#complaint.message;
    if (isKnown && this.#getAge(this.#complaint.atMs) < complaintIntervalMs) return;
    this.#complaint = { message, atMs: this.#options.clock.now() };
    const consequence = this.#current ? 'the former ones stay in force' : 'requests are refused';
    this.#options.log[level](`the settings cannot be used: ${consequence}`, { error });
  }
}
