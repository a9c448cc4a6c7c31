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
import { SettingsProblems } from './settings-problems.ts';

/** What was made of the texts of settings. */
export interface ParsedSettings {
  /** The merged Spinnaker configuration. */
  readonly settings: JsonObject;
  /** Accounts that are left out whatever their provider says, and why. */
  readonly rejectedAccounts: readonly RejectedAccount[];
  /** Accounts that cannot be used for what their settings name, and why. Default: none. */
  readonly refusedAccounts?: readonly RejectedAccount[];
  /** What else whoever wrote them should know. Default: nothing. */
  readonly warnings?: readonly AccountWarning[];
}

/** Where settings and providers come from. `Texts` is what is read; it is compared with what was read before. */
export interface SettingsSource<Texts = unknown> {
  /** The texts of the settings, read anew. */
  read(): Promise<Texts>;
  /** One configuration of them. @throws AuthorizationSettingsError where nobody may be let in; other errors for bad ones. */
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
  /** Accounts that were made by an API. Default: this process does not read them. */
  readonly stored?: Pick<LiveAccounts, 'accounts' | 'isKnown' | 'refresh'>;
  /** Whether accounts may be made by an API where the settings do not say. Default `deployed`: not. */
  readonly placement?: 'local' | 'deployed';
  /** Both times where accounts may be made by an API, and come with what is read here. Default: the same. */
  readonly quick?: { readonly intervalMs: number; readonly staleAgeMs: number } | undefined;
  /** Settings of this age, in milliseconds, are not used before a new reading has ended or has taken 3 s. Default 10 minutes. */
  readonly staleAgeMs?: number;
}

/** Providers and the settings that they were opened with. */
export interface OpenedProviders {
  readonly providers: ProviderSet;
  /** The merged Spinnaker configuration. */
  readonly settings: JsonObject;
  /** The accounts that were made by an API, by name; empty where this process does not read them. */
  readonly storedAccounts: readonly StoredAccount[];
}

/** The age from which settings are not used before a new reading has ended … */
const defaultStaleAgeMs = 600_000;
/** … or has taken this long. */
const staleWaitMs = 3_000;

/** Pause between readings while there are no settings to go on with, or where somebody has reason to ask for newer ones. */
const pauseMs = 10_000;

/** A complaint that is still true is logged again after this long. */
const complaintIntervalMs = 120_000;

/** A look at the accounts of the store holds for this long … */
const accountsAgeMs = 1_000;
/** … is waited for so long, unless somebody needs the newest … */
const accountsWaitMs = 1_000;
/** … and is taken again after so long when the store did not answer in time. */
const accountsPauseMs = 5_000;

/** The accounts that were made by an API cannot be known: those of the settings may be open to more people. */
class UnknownAccountsError extends UnavailableError {
  override name = 'UnknownAccountsError';
}

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
  /** Not the providers themselves: of a thousand accounts each set has 140 KB. */
  #retired: readonly { readonly closings: readonly AsyncDisposable[]; readonly sinceMs: number }[] = [];
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
  readonly #problems: SettingsProblems;
  readonly #none: readonly StoredAccount[] = [];
  #isStorageEnabled = false;
  #accountsSeenAtMs = Number.NEGATIVE_INFINITY;
  #accountsMissedAtMs = Number.NEGATIVE_INFINITY;
  #complaint = { message: '', atMs: Number.NEGATIVE_INFINITY };

  constructor(options: LiveProvidersOptions) {
    this.#options = options;
    this.#problems = new SettingsProblems(options.log);
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
    await this.#lookAtAccounts();
    if (this.#current !== undefined) return this.#current;
    const cause = this.#problem ?? this.#failure;
    throw new UnavailableError(`The settings cannot be used: ${getErrorMessage(cause)}`, { cause });
  }

  /**
   * Reads the settings now, unless that was done within the last ten seconds, and what changed in the store of accounts: for who finds
   * that they may have changed. What is in force afterwards, `get` answers.
   */
  async refresh(): Promise<void> {
    if (this.#getAge(this.#startedAtMs) >= (this.#quick ? 0 : pauseMs)) this.#startReading();
    await this.#reading;
    const { stored } = this.#options;
    if (stored === undefined || !this.#isStorageEnabled) return;
    await this.#takeAccounts(stored.refresh({ maxAgeMs: 0, consistent: true }));
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

  /** Times of reading where accounts come with what is read. */
  get #quick(): LiveProvidersOptions['quick'] {
    return this.#isStorageEnabled ? this.#options.quick : undefined;
  }

  #isStale(): boolean {
    const { staleAgeMs = defaultStaleAgeMs } = this.#quick ?? this.#options;
    return this.#getAge(this.#readAtMs) >= staleAgeMs;
  }

  /** Looks what changed in the store of accounts, if the last look is old. One that takes long goes on by itself. */
  async #lookAtAccounts(): Promise<void> {
    const { stored, clock } = this.#options;
    if (stored === undefined || !this.#isStorageEnabled || this.#current === undefined) return;
    if (this.#getAge(this.#accountsSeenAtMs) < accountsAgeMs) return;
    if (this.#getAge(this.#accountsMissedAtMs) < accountsPauseMs) return;
    const startedAtMs = clock.now();
    const look = this.#takeAccounts(stored.refresh({ maxAgeMs: accountsAgeMs, consistent: false }));
    const isDone = await waitAtMost(clock, accountsWaitMs, look);
    // Who comes meanwhile waits for the same look.
    if (isDone) this.#accountsSeenAtMs = startedAtMs;
    else this.#accountsMissedAtMs = clock.now();
  }

  /** Opens providers anew when a look found other accounts. Never rejects: without the store those of the last look stay in force. */
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
      // By what was just read: it may be the first that says that accounts are stored.
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

  /** @throws UnknownAccountsError when nobody knows which accounts there are */
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

  /** Reads the accounts of the store before the first settings that let them count. */
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
    const isStorageEnabled = this.#mayBeStored(parsed.settings);
    const storedAccounts = (isStorageEnabled && this.#options.stored?.accounts) || this.#none;
    const isSame = parsed === this.#parsed || isDeepStrictEqual(parsed, this.#parsed);
    if (before !== undefined && isSame && storedAccounts === before.storedAccounts) return;
    const { log, source } = this.#options;
    const providers = source.open(parsed, storedAccounts);
    this.#problems.tell(providers);
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

  /** Closes the providers that have been out of force for so long. Never rejects. */
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
