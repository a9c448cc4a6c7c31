import type { AccountStore, StoredAccount } from '#accounts/model/account-store.ts';
import type { Clock } from '#core/clock.ts';
import { compareText } from '#core/text-order.ts';

/** What a process needs to know the stored accounts. */
export interface LiveAccountsOptions {
  /** Opens the store, when it is first needed. */
  open(): Promise<Pick<AccountStore, 'readVersion' | 'listChanges' | 'list' | 'findMany'>>;
  readonly clock: Pick<Clock, 'now'>;
  /** Providers whose accounts are stored. */
  readonly types: readonly string[];
}

/** How fresh a look must be. */
export interface Freshness {
  /** Age of the last look, in milliseconds, up to which it suffices. */
  readonly maxAgeMs: number;
  /** Whether every earlier change must be seen; else those of the last moment may be missing, at half the price. */
  readonly consistent: boolean;
}

/** Changes that are read one by one; of more, all accounts are read. */
const changesMax = 500;

/** Milliseconds since the last look from which all accounts are read: changes are listed for 24 hours. */
const changesAgeMs = 23 * 3_600_000;

/** Milliseconds for which a missing change is awaited: its writer may be slow. If the writer died it is published again. */
const lateChangeMs = 60_000;

/**
 * The stored accounts as this process knows them. A look costs half a read unit, plus the accounts that changed. An unchanged account
 * remains the same object, and so does an unchanged list.
 */
export class LiveAccounts {
  readonly #options: LiveAccountsOptions;
  #known: ReadonlyMap<string, StoredAccount> = new Map();
  #list: readonly StoredAccount[] = [];
  /** Undefined until all accounts were read. */
  #version: number | undefined;
  /** All changes up to this version are known; when the next one was first found missing. */
  #complete = { version: 0, sinceMs: 0 };
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  #looking: { readonly done: Promise<void>; readonly consistent: boolean } | undefined;

  constructor(options: LiveAccountsOptions) {
    this.#options = options;
  }

  /** The accounts, by name; the same list while nothing changed. */
  get accounts(): readonly StoredAccount[] {
    return this.#list;
  }

  /** Whether the accounts were ever read. */
  get isKnown(): boolean {
    return this.#version !== undefined;
  }

  /** Reads what changed, unless the last look suffices. @throws what the store throws: the known accounts stay */
  async refresh({ maxAgeMs, consistent }: Freshness): Promise<void> {
    const underWay = this.#looking;
    if (underWay !== undefined) {
      if (!consistent) return underWay.done;
      // It may have begun before the change in question.
      await underWay.done.catch(() => undefined);
      if (this.#looking !== undefined && this.#looking !== underWay) return this.#looking.done;
    } else if (Math.abs(this.#options.clock.now() - this.#lookedAtMs) < maxAgeMs) return;
    const done = this.#look(consistent).finally(() => {
      this.#looking = undefined;
    });
    this.#looking = { done, consistent };
    return done;
  }

  async #look(consistent: boolean): Promise<void> {
    const store = await this.#options.open();
    const nowMs = this.#options.clock.now();
    const version = await store.readVersion({ consistent: consistent || this.#version === undefined });
    if (this.#version === undefined || nowMs - this.#lookedAtMs > changesAgeMs) {
      await this.#readAll(store, version);
    } else if (version > this.#complete.version) await this.#readChanges(store, version);
    this.#lookedAtMs = nowMs;
  }

  async #readAll(store: Pick<AccountStore, 'list'>, version: number): Promise<void> {
    const lists = await Promise.all(this.#options.types.map((type) => store.list({ type })));
    this.#adopt(new Map(lists.flat().map((account) => [account.name, account])));
    this.#version = version;
    this.#complete = { version, sinceMs: 0 };
  }

  async #readChanges(
    store: Awaited<ReturnType<LiveAccountsOptions['open']>>,
    version: number,
  ): Promise<void> {
    const changes = await store.listChanges(this.#complete.version, changesMax + 1);
    if (changes.length > changesMax) return this.#readAll(store, version);
    const names = [...new Set(changes.map(({ name }) => name))];
    const found = names.length === 0 ? [] : await store.findMany(names);
    const known = new Map(this.#known);
    for (const name of names) known.delete(name);
    for (const account of found.filter(({ type }) => this.#options.types.includes(type))) {
      known.set(account.name, account);
    }
    if (names.length > 0) this.#adopt(known);
    const told = new Set(changes.map((change) => change.version));
    this.#advance(told, Math.max(version, ...told));
  }

  /** Moves on to the version after which a change is missing; past it when that took too long. */
  #advance(told: ReadonlySet<number>, last: number): void {
    const nowMs = this.#options.clock.now();
    let { version } = this.#complete;
    while (version < last && told.has(version + 1)) version += 1;
    if (version === last) this.#complete = { version, sinceMs: 0 };
    else if (version > this.#complete.version || this.#complete.sinceMs === 0) {
      this.#complete = { version, sinceMs: nowMs };
    } else if (nowMs - this.#complete.sinceMs > lateChangeMs) {
      this.#complete = { version: last, sinceMs: 0 };
    }
    this.#version = last;
  }

  #adopt(accounts: ReadonlyMap<string, StoredAccount>): void {
    const kept = [...accounts.values()].map((account) => {
      const before = this.#known.get(account.name);
      return isSame(before, account) ? before : account;
    });
    this.#known = new Map(kept.map((account) => [account.name, account]));
    const list = kept.toSorted((one, other) => compareText(one.name, other.name));
    const isChanged = list.length !== this.#list.length || list.some((each, at) => each !== this.#list[at]);
    if (isChanged) this.#list = list;
  }
}

/** A revision of a name is never written twice; a restored table may have another one of the same number. */
function isSame(before: StoredAccount | undefined, after: StoredAccount): before is StoredAccount {
  return before?.revision === after.revision && before.modifiedAtMs === after.modifiedAtMs;
}
