import type { CacheTable } from '#caching/aws/store/cache-table.ts';
import type { Clock } from '#core/clock.ts';
import { ConflictError } from '#core/errors.ts';
import { ItemUpdate } from '#platform/aws/table.ts';
import type {
  AccountDefinition,
  AccountPage,
  AccountRevision,
  AccountStore,
  AccountWriter,
  ChangedAccount,
  StoredAccount,
} from '../model/account-store.ts';
import {
  type AccountState,
  type BegunChange,
  begunPartition,
  changesPartition,
  getAccountKey,
  getBegunKey,
  getChangeSort,
  getDirectoryKey,
  getDirectoryPartition,
  getRevisionKey,
  isUnexpired,
  parseAccountItem,
  parseBegunItem,
  parseChangeItem,
  parseRevisionItem,
  parseVersion,
  revisionPrefix,
  toAccountItem,
  toBegunItem,
  toChangeItem,
  toRevision,
  toRevisionItem,
  versionKey,
} from './account-items.ts';

/** Milliseconds that a writer gets before others complete its change: it needs only a few itself. */
const completionDelayMs = 5_000;

/** Milliseconds after which an unwritten begun change is abandoned: no request takes as long. */
const abandonedAfterMs = 3_600_000;

/** Begun changes completed in one run at most. */
const begunMax = 100;

interface AccountStoreOptions {
  /** The table of accounts. */
  readonly table: CacheTable;
  readonly clock: Pick<Clock, 'now'>;
}

/**
 * Accounts in DynamoDB, by writes of single items.
 *
 * A change is begun (an item in the partition `BEGUN`), gets its row in the directory, and takes effect by one conditional write of the
 * account's state. Then it is published: a new version, a row among the changes. Its row in the history comes last and says that it is
 * complete. Where a state lacks that row, the next writer of the name or the check each minute completes the change.
 * docs/decisions/0055-one-store-of-accounts.md has the reasons.
 */
export class DynamoAccountStore implements AccountStore {
  readonly #table: CacheTable;
  readonly #clock: AccountStoreOptions['clock'];

  constructor({ table, clock }: AccountStoreOptions) {
    this.#table = table;
    this.#clock = clock;
  }

  async find(name: string): Promise<StoredAccount | undefined> {
    const found = await this.findAnyCase(name);
    return found?.name === name ? found : undefined;
  }

  async findAnyCase(name: string): Promise<StoredAccount | undefined> {
    const state = await this.#read(name);
    return state?.isDeleted === false ? state : undefined;
  }

  async save(
    definition: AccountDefinition & Pick<StoredAccount, 'origin'>,
    { expected, modifiedBy }: AccountWriter,
  ): Promise<StoredAccount | undefined> {
    const before = await this.#readComplete(definition.name);
    if (getLiveRevision(before) !== expected) return undefined;
    const nowMs = this.#clock.now();
    const after: AccountState = {
      ...definition,
      revision: (before?.revision ?? 0) + 1,
      createdAtMs: before?.isDeleted === false ? before.createdAtMs : nowMs,
      modifiedAtMs: nowMs,
      modifiedBy,
      isDeleted: false,
    };
    return (await this.#change(before, after)) ? after : undefined;
  }

  async remove(name: string, { expected, modifiedBy }: AccountWriter): Promise<number | undefined> {
    const before = await this.#readComplete(name);
    if (before === undefined || before.isDeleted || before.name !== name) return undefined;
    if (before.revision !== expected) return undefined;
    const after = {
      ...before,
      revision: before.revision + 1,
      modifiedAtMs: this.#clock.now(),
      modifiedBy,
      isDeleted: true,
    };
    return (await this.#change(before, after)) ? after.revision : undefined;
  }

  async list({ type, startingName, limit }: AccountPage): Promise<readonly StoredAccount[]> {
    const names = await this.#listNames(type, startingName);
    const found: StoredAccount[] = [];
    // The directory may have names of accounts that were never created, or are gone.
    const size = limit ?? names.length;
    for (let start = 0; start < names.length && found.length < size; start += size) {
      const accounts = await this.findMany(names.slice(start, start + size));
      const byName = new Map(accounts.map((account) => [account.name, account]));
      const some = names.slice(start, start + size).flatMap((name) => byName.get(name) ?? []);
      found.push(...some.filter((account) => account.type === type || account.unreadable !== undefined));
    }
    return found.slice(0, size);
  }

  async findMany(names: readonly string[]): Promise<readonly StoredAccount[]> {
    const wanted = new Set(names);
    const keys = new Map(names.map((name) => [name.toLowerCase(), getAccountKey(name)]));
    const items = await this.#table.getBatch([...keys.values()], { consistent: true });
    const known = new Map(names.map((name) => [getAccountKey(name).pk, name]));
    const states = items.map((item) => parseAccountItem(item, known.get(String(item['pk'])) ?? ''));
    return states.filter(({ name, isDeleted }) => !isDeleted && wanted.has(name));
  }

  async listHistory(name: string): Promise<readonly AccountRevision[]> {
    const [items, state] = await Promise.all([this.#listRevisions(name), this.#read(name)]);
    const revisions = items.map(parseRevisionItem);
    // The row of the last change may not be written yet.
    const isMissing = state !== undefined && !revisions.some(({ revision }) => revision === state.revision);
    return [...revisions, ...(isMissing ? [toRevision(state)] : [])].reverse();
  }

  async readVersion({ consistent }: { readonly consistent: boolean }): Promise<number> {
    return parseVersion(await this.#table.get(versionKey, { consistent }));
  }

  async listChanges(after: number, limit: number): Promise<readonly ChangedAccount[]> {
    const items = await this.#table.query(changesPartition, limit, getChangeSort(Math.max(0, after)));
    return items.map(parseChangeItem);
  }

  async completeChanges(): Promise<number> {
    const begun = (await this.#table.query(begunPartition, begunMax)).map(parseBegunItem);
    let completed = 0;
    for (const change of begun) completed += (await this.#completeBegun(change)) ? 1 : 0;
    return completed;
  }

  async #read(name: string): Promise<AccountState | undefined> {
    const item = await this.#table.get(getAccountKey(name));
    return item && parseAccountItem(item, name);
  }

  /** The state of an account, once the change that made it is complete: the next change must not hide what is left of it. */
  async #readComplete(name: string): Promise<AccountState | undefined> {
    const state = await this.#read(name);
    if (state?.unreadable !== undefined)
      throw new ConflictError(`Account ${name} cannot be read, and stays as it is: ${state.unreadable}`);
    if (state !== undefined && !(await this.#isComplete(state))) await this.#complete(state);
    return state;
  }

  async #isComplete({ name, revision }: AccountState): Promise<boolean> {
    return (await this.#table.get(getRevisionKey(name, revision))) !== undefined;
  }

  /** @returns whether the change took effect */
  async #change(before: AccountState | undefined, after: AccountState): Promise<boolean> {
    await this.#table.put(toBegunItem(after, this.#clock.now()));
    if (!after.isDeleted) await this.#list(after);
    const item = toAccountItem(after);
    const isDone =
      before === undefined
        ? await this.#table.putNew(item, 0)
        : await this.#table.putOver(item, 'revision', before.revision);
    if (isDone) await this.#complete(after);
    return isDone;
  }

  /** Publishes a change that took effect. It may be repeated any number of times. */
  async #complete(state: AccountState): Promise<void> {
    const nowMs = this.#clock.now();
    const item = await this.#table.update(versionKey, new ItemUpdate().add('version', 1));
    await this.#table.put(toChangeItem(state, parseVersion(item), nowMs));
    if (state.isDeleted) await this.#unlist(state);
    else await this.#list(state);
    await this.#table.put(toRevisionItem(state));
    await this.#table.delete(getBegunKey(state));
  }

  /** The row of a later change stays: a slow writer must not overwrite it. */
  async #list({ type, name, revision }: AccountState): Promise<void> {
    await this.#table.putGreater({ ...getDirectoryKey(type, name), revision }, 'revision', revision);
  }

  async #unlist({ type, name, revision }: Pick<AccountState, 'type' | 'name' | 'revision'>): Promise<void> {
    await this.#table.deleteUpTo(getDirectoryKey(type, name), 'revision', revision);
  }

  async #listNames(type: string, startingName: string | undefined): Promise<readonly string[]> {
    const partition = getDirectoryPartition(type);
    const [first, items] = await Promise.all([
      startingName === undefined ? undefined : this.#table.get(getDirectoryKey(type, startingName)),
      this.#table.query(partition, Number.POSITIVE_INFINITY, startingName),
    ]);
    return [...(first ? [first] : []), ...items].map(({ sk }) => String(sk));
  }

  async #listRevisions(name: string): ReturnType<CacheTable['query']> {
    const { pk } = getAccountKey(name);
    const items = await this.#table.query(pk, Number.POSITIVE_INFINITY, revisionPrefix);
    return items.filter((item) => isUnexpired(item, this.#clock.now()));
  }

  /** @returns whether it was left incomplete */
  async #completeBegun({ key, name, type, revision, atMs }: BegunChange): Promise<boolean> {
    const ageMs = this.#clock.now() - atMs;
    if (ageMs < completionDelayMs) return false;
    const state = await this.#read(name);
    if (state?.unreadable !== undefined) return false;
    if (state === undefined || state.revision < revision) {
      if (ageMs < abandonedAfterMs) return false;
      await this.#unlist({ type, name, revision });
      await this.#table.delete(key);
      return false;
    }
    const isIncomplete = !(await this.#isComplete(state));
    if (isIncomplete) await this.#complete(state);
    await this.#table.delete(key);
    return isIncomplete;
  }
}

function getLiveRevision(state: AccountState | undefined): number | undefined {
  return state?.isDeleted === false ? state.revision : undefined;
}
