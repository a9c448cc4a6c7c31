import { isDeepStrictEqual } from 'node:util';
import type { AccountWarning, RejectedAccount } from '#accounts/model/account.ts';
import type { StoredAccount } from '#accounts/model/account-store.ts';
import { getRandomMs } from '#core/back-off.ts';
import type { Clock, Randomness } from '#core/clock.ts';
import { waitAtMost } from '#core/deadline.ts';
import { getErrorMessage, UnavailableError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import type { Logger } from '#core/logger.ts';
import type { ProviderSet } from '#provider-kit/provider-set.ts';
import { isAccountStorageEnabled } from '../account-storage.ts';
import {
  AuthorizationSettingsError,
  hasSameAuthorization,
  isFiatEnabled,
  withFiatOf,
} from './authorization-settings.ts';
import type { LiveAccounts } from './live-accounts.ts';
import { createProblemLog } from './settings-problems.ts';

/** The result of parsing texts of settings. */
export interface ParsedSettings {
  /** The merged Spinnaker configuration. */
  readonly settings: JsonObject;
  /** Accounts that are left out whatever their provider says, and why. */
  readonly rejectedAccounts: readonly RejectedAccount[];
  /** Accounts that cannot be used because of something that their settings name, and why. Default: none. */
  readonly refusedAccounts?: readonly RejectedAccount[];
  /** Other warnings for the author of the settings. Default: none. */
  readonly warnings?: readonly AccountWarning[];
}

/** Where settings and providers come from. `Texts` is what is read; it is compared with what was read last. */
export interface SettingsSource<Texts = unknown> {
  /** Reads the texts of the settings. */
  read(): Promise<Texts>;
  /** The configuration of these texts. @throws AuthorizationSettingsError where nobody may be admitted; other errors for unusable ones. */
  parse(texts: Texts): ParsedSettings;
  /** Opens providers, which makes no call. @throws Error for settings that no provider can work with. */
  open(parsed: ParsedSettings, storedAccounts: readonly StoredAccount[]): ProviderSet;
}

/** How to follow settings. */
export interface LiveProvidersOptions {
  readonly source: SettingsSource;
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
  readonly randomness: Pick<Randomness, 'fraction'>;
  readonly log: Logger;
  /** Milliseconds between two readings, give or take a fifth, so that processes do not read all at once. */
  readonly intervalMs: number;
  /** Accounts created by an API. Default: this process does not read them. */
  readonly stored?: Pick<LiveAccounts, 'accounts' | 'isKnown' | 'refresh'>;
  /** Whether an API may create accounts where the settings do not say it. Default `deployed`: no. */
  readonly placement?: 'local' | 'deployed';
  /** Both times where an API may create accounts, and they come with what is read here. Default: the same. */
  readonly quick?: { readonly intervalMs: number; readonly staleAgeMs: number } | undefined;
  /** Milliseconds from which settings are not used until a new reading has ended or taken 3 s. Default 10 minutes. */
  readonly staleAgeMs?: number;
}

/** Providers and the settings that they were opened with. */
export interface OpenedProviders {
  readonly providers: ProviderSet;
  /** The merged Spinnaker configuration. */
  readonly settings: JsonObject;
  /** The accounts created by an API, by name; empty where this process does not read them. */
  readonly storedAccounts: readonly StoredAccount[];
}

/** Milliseconds from which settings are not used until a new reading has ended … */
const defaultStaleAgeMs = 600_000;
/** … or has taken this long. */
const staleWaitMs = 3_000;

/** Milliseconds between readings while there are no usable settings, or a caller has reason to ask for newer ones. */
const pauseMs = 10_000;

/** Milliseconds after which a complaint that still holds is logged again. */
const complaintIntervalMs = 120_000;

/** Milliseconds for which a look at the stored accounts suffices … */
const accountsAgeMs = 1_000;
/** … for which it is awaited, unless a caller needs the newest … */
const accountsWaitMs = 1_000;
/** … and after which it is repeated when the store did not answer in time. */
const accountsPauseMs = 5_000;

/** The accounts created by an API are unknown: those of the settings may be open to more people. */
class UnknownAccountsError extends UnavailableError {
  override name = 'UnknownAccountsError';
}

/** Milliseconds for which replaced providers stay open for their users: no invocation of Lambda lasts longer than 15 minutes. */
const retirementMs = 20 * 60_000;

/**
 * The providers of a process, opened again when their settings change. A request uses the same ones to its end. Unusable settings change
 * nothing: the last good ones stay in force, and the log has the reason. But where their authorization is unusable, the settings before
 * them are put out of force, too.
 *
 * Once Fiat was on it stays on: settings that turn it off only take effect in the next process.
 *
 * Lambda freezes a process between its invocations, so nothing here uses timers: the caller for whom a reading is due starts it, and
 * continues with the current settings.
 */
export class LiveProviders implements AsyncDisposable {
  readonly #options: LiveProvidersOptions;
  #current: OpenedProviders | undefined;
  /** Not the providers themselves: of a thousand accounts each set has 140 KB. */
  #retired: readonly { readonly closings: readonly AsyncDisposable[]; readonly sinceMs: number }[] = [];
  #texts: unknown;
  #parsed: ParsedSettings | undefined;
  /** The last settings that were in force with Fiat. */
  #withFiat: JsonObject | undefined;
  /** What is wrong with the last texts. */
  #problem: unknown;
  /** Why they could not be read again. */
  #failure: unknown;
  #reading: Promise<void> | undefined;
  #readAtMs = Number.NEGATIVE_INFINITY;
  #startedAtMs = Number.NEGATIVE_INFINITY;
  #intervalMs = 0;
  readonly #logProblems: ReturnType<typeof createProblemLog>;
  readonly #none: readonly StoredAccount[] = [];
  #isStorageEnabled = false;
  #accountsSeenAtMs = Number.NEGATIVE_INFINITY;
  #accountsMissedAtMs = Number.NEGATIVE_INFINITY;
  #complaint = { message: '', atMs: Number.NEGATIVE_INFINITY };

  constructor(options: LiveProvidersOptions) {
    this.#options = options;
    this.#logProblems = createProblemLog(options.log);
  }

  /** The providers in force. @throws UnavailableError with the reason when the first settings, or newer authorization, are unusable */
  async get(): Promise<OpenedProviders> {
    if (this.#getAge(this.#startedAtMs) >= this.#intervalMs) this.#startReading();
    if (this.#current === undefined) await this.#reading;
    else if (this.#isStale()) await this.#waitForReading();
    await this.#lookAtAccounts();
    if (this.#current !== undefined) return this.#current;
    const cause = this.#problem ?? this.#failure;
    throw new UnavailableError(`The settings cannot be used: ${getErrorMessage(cause)}`, { cause });
  }

  /**
   * Reads the settings now, unless that was done within the last ten seconds, and changes in the store of accounts: for callers that find
   * that they may have changed. `get` then returns what is in force.
   */
  async refresh(): Promise<void> {
    if (this.#getAge(this.#startedAtMs) >= (this.#quick ? 0 : pauseMs)) this.#startReading();
    await this.#reading;
    const { stored } = this.#options;
    if (stored === undefined || !this.#isStorageEnabled) return;
    await this.#takeAccounts(stored.refresh({ maxAgeMs: 0, consistent: true }));
  }

  /** Why the settings that were last read are not in force; undefined when they are, and before the first reading. */
  get problem(): unknown {
    return this.#failure ?? this.#problem;
  }

  /** Closes all providers, including replaced ones. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#reading;
    this.#replace(undefined);
    await this.#closeRetired(0);
  }

  /** By wall time: a monotonic clock may stop with the process. A clock that was set back counts as time passed. */
  #getAge(sinceMs: number): number {
    return Math.abs(this.#options.clock.now() - sinceMs);
  }

  /** Times of reading where accounts come with what is read. */
  get #quick(): LiveProvidersOptions['quick'] {
    return this.#isStorageEnabled ? this.#options.quick : undefined;
  }

  #isStale(): boolean {
    const { staleAgeMs = defaultStaleAgeMs } = this.#quick ?? this.#options;
    return this.#getAge(this.#readAtMs) >= staleAgeMs;
  }

  /** Reads what changed in the store of accounts, if the last look is old. A slow one continues in the background. */
  async #lookAtAccounts(): Promise<void> {
    const { stored, clock } = this.#options;
    if (stored === undefined || !this.#isStorageEnabled || this.#current === undefined) return;
    if (this.#getAge(this.#accountsSeenAtMs) < accountsAgeMs) return;
    if (this.#getAge(this.#accountsMissedAtMs) < accountsPauseMs) return;
    const startedAtMs = clock.now();
    const look = this.#takeAccounts(stored.refresh({ maxAgeMs: accountsAgeMs, consistent: false }));
    const isDone = await waitAtMost(clock, accountsWaitMs, look);
    // Callers that come meanwhile wait for the same look.
    if (isDone) this.#accountsSeenAtMs = startedAtMs;
    else this.#accountsMissedAtMs = clock.now();
  }

  /** Opens providers again when a look found other accounts. Never rejects: without the store those of the last look stay in force. */
  async #takeAccounts(look: Promise<void>): Promise<void> {
    try {
      await look;
      if (this.#parsed !== undefined && this.#current !== undefined) this.#open(this.#parsed);
    } catch (error) {
      this.#accountsMissedAtMs = this.#options.clock.now();
      this.#complain(error, 'warn');
    }
  }

  #startReading(): void {
    if (this.#reading !== undefined) return;
    const { clock, randomness } = this.#options;
    this.#startedAtMs = clock.now();
    this.#reading = this.#read().finally(() => {
      this.#reading = undefined;
      // By what was just read: it may be the first to say that accounts are stored.
      const { intervalMs } = this.#quick ?? this.#options;
      this.#intervalMs = getRandomMs(1.2 * intervalMs, randomness, 2 / 3);
      if (this.#current === undefined) this.#intervalMs = Math.min(pauseMs, this.#intervalMs);
    });
  }

  async #waitForReading(): Promise<void> {
    if (this.#reading === undefined) return;
    await waitAtMost(this.#options.clock, staleWaitMs, this.#reading);
  }

  /** Never rejects. */
  async #read(): Promise<void> {
    void this.#closeRetired(retirementMs);
    try {
      const texts = await this.#options.source.read();
      this.#readAtMs = this.#options.clock.now();
      this.#failure = undefined;
      if (!isDeepStrictEqual(texts, this.#texts)) await this.#adopt(texts);
      else if (this.#problem !== undefined) this.#complain(this.#problem);
    } catch (error) {
      this.#failure = error;
      const isHarmless = this.#current !== undefined && !this.#isStale();
      this.#complain(error, isHarmless ? 'warn' : 'error');
    }
  }

  /** @throws UnknownAccountsError when the stored accounts are unknown */
  async #adopt(texts: unknown): Promise<void> {
    this.#texts = texts;
    let settings: JsonObject | undefined;
    try {
      const parsed = this.#options.source.parse(texts);
      settings = this.#keepFiat(parsed.settings);
      await this.#readAccounts(settings);
      this.#open({ ...parsed, settings });
      if (isFiatEnabled(settings)) this.#withFiat = settings;
      this.#problem = undefined;
    } catch (error) {
      if (error instanceof UnknownAccountsError) {
        this.#texts = undefined;
        throw error;
      }
      this.#problem = error;
      if (error instanceof AuthorizationSettingsError || this.#isAuthorizationOther(settings)) {
        this.#replace(undefined);
      }
      this.#complain(error);
    }
  }

  /** Reads the stored accounts before the first settings that let them count. */
  async #readAccounts(settings: JsonObject): Promise<void> {
    const { stored } = this.#options;
    if (stored === undefined || stored.isKnown || !this.#mayBeStored(settings)) return;
    await stored.refresh({ maxAgeMs: 0, consistent: true }).catch((error) => {
      const reason = `the stored accounts cannot be read: ${getErrorMessage(error)}`;
      throw new UnknownAccountsError(reason, { cause: error });
    });
  }

  #mayBeStored(settings: JsonObject): boolean {
    return isAccountStorageEnabled(settings, this.#options.placement ?? 'deployed');
  }

  /** Otherwise an author of settings could at once open, in all processes, what Fiat closes. */
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

  /** A change of only comments, or of a kubeconfig's tokens, changes no settings: connections stay open. */
  #open(parsed: ParsedSettings): void {
    const before = this.#current;
    const isStorageEnabled = this.#mayBeStored(parsed.settings);
    const storedAccounts = (isStorageEnabled && this.#options.stored?.accounts) || this.#none;
    const isSame = parsed === this.#parsed || isDeepStrictEqual(parsed, this.#parsed);
    if (before !== undefined && isSame && storedAccounts === before.storedAccounts) return;
    const { log, source } = this.#options;
    const providers = source.open(parsed, storedAccounts);
    this.#logProblems(providers);
    this.#replace({ providers, settings: parsed.settings, storedAccounts });
    this.#parsed = parsed;
    this.#isStorageEnabled = isStorageEnabled;
    if (before === undefined) return;
    const message = isSame ? 'stored accounts have changed' : 'the settings have changed';
    log.info(message, { accounts: providers.accounts.length });
  }

  #replace(next: OpenedProviders | undefined): void {
    if (this.#current !== undefined) {
      const closings = this.#current.providers.listClosings();
      const retired = { closings, sinceMs: this.#options.clock.now() };
      this.#retired = [...this.#retired, retired];
    }
    this.#current = next;
  }

  /** Closes the providers that were replaced at least this long ago. Never rejects. */
  async #closeRetired(ageMs: number): Promise<void> {
    const { true: old = [], false: young = [] } = Object.groupBy(this.#retired, ({ sinceMs }) =>
      this.#getAge(sinceMs) >= ageMs ? 'true' : 'false',
    );
    this.#retired = young;
    const closings = old.flatMap(({ closings }) => closings);
    for (const closed of await Promise.allSettled(closings.map((each) => each[Symbol.asyncDispose]()))) {
      if (closed.status === 'rejected')
        this.#options.log.warn('providers could not be closed', { error: closed.reason });
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
