import type { JsonObject } from '#core/json.ts';

/** Which API made an account. */
export type AccountOrigin = 'credentials' | 'providers' | 'agents';

/** An account as somebody defined it by an API, before anything is made of it. */
export interface AccountDefinition {
  /** Unique over all providers, whatever its case: see {@link isAccountName}. */
  readonly name: string;
  /** Id of its provider, such as `kubernetes`. */
  readonly type: string;
  /** The definition as it was given, with name and type; at most {@link accountBodyBytesMax} bytes as JSON. */
  readonly body: JsonObject;
}

/** An account that the store has. */
export interface StoredAccount extends AccountDefinition {
  /** From 1, one more with each change of the name, deletions included. */
  readonly revision: number;
  readonly createdAtMs: number;
  readonly modifiedAtMs: number;
  /** Undefined where nobody said who he was. */
  readonly modifiedBy: string | undefined;
  readonly origin: AccountOrigin;
  /** Why it cannot be read: another release wrote it. It is listed and stays as it is, and nobody uses it. Left out where it can. */
  readonly unreadable?: string;
}

/** One change of an account. */
export interface AccountRevision {
  readonly revision: number;
  readonly timestampMs: number;
  /** Undefined for a deletion. */
  readonly body: JsonObject | undefined;
  readonly modifiedBy: string | undefined;
}

/** Who changes an account, and what he saw of it. */
export interface AccountWriter {
  /** The revision that was read; undefined for an account that was not there. The change is refused when it is another by now. */
  readonly expected: number | undefined;
  readonly modifiedBy: string | undefined;
}

/** A name that was changed, by the version that the store had afterwards. */
export interface ChangedAccount {
  readonly version: number;
  readonly name: string;
}

/** Which accounts to list. */
export interface AccountPage {
  readonly type: string;
  /** Only this name and those behind it, in the order of code units. Default: all. */
  readonly startingName?: string | undefined;
  /** At most so many. Default: all. */
  readonly limit?: number | undefined;
}

/**
 * The accounts that were made by an API. Each change is one conditional write: of several at one time one succeeds. Whoever dies in the
 * midst of a change leaves it either undone or to be completed; readers see it whole.
 */
export interface AccountStore {
  /** The account of exactly this name, or undefined. */
  find(name: string): Promise<StoredAccount | undefined>;
  /** The account of this name in any case, or undefined: a name is taken in all of them. */
  findAnyCase(name: string): Promise<StoredAccount | undefined>;
  /**
   * Creates or replaces an account.
   *
   * @returns undefined when the account is not as the writer saw it
   * @throws ConflictError for one that cannot be read
   */
  save(
    definition: AccountDefinition & Pick<StoredAccount, 'origin'>,
    writer: AccountWriter,
  ): Promise<StoredAccount | undefined>;
  /**
   * Deletes an account.
   *
   * @returns the revision that the deletion has; undefined when the account is not as the writer saw it
   * @throws ConflictError for one that cannot be read
   */
  remove(name: string, writer: AccountWriter): Promise<number | undefined>;
  /** Accounts by name, ascending. */
  list(page: AccountPage): Promise<readonly StoredAccount[]>;
  /** The accounts of these names that there are, in any order. */
  findMany(names: readonly string[]): Promise<readonly StoredAccount[]>;
  /** Every change of a name in the last 400 days, newest first; empty for a name that never was. */
  listHistory(name: string): Promise<readonly AccountRevision[]>;
  /** A number that grows with each change; 0 before the first. @param options.consistent false for half the price */
  readVersion(options: { readonly consistent: boolean }): Promise<number>;
  /** Changes behind a version, ascending, at most so many. Those of more than 24 hours ago may be missing. */
  listChanges(after: number, limit: number): Promise<readonly ChangedAccount[]>;
  /** Completes changes whose writers died, and forgets those that never came about. @returns how many were completed */
  completeChanges(): Promise<number>;
}

/** Bytes of a definition as JSON, at most. */
export const accountBodyBytesMax = 256 * 1024;

/** Characters of a name, at most. */
const nameLengthMax = 253;

/** What the name of an account that is to be stored has to be. */
export const accountNameRule = `expected 1 to ${nameLengthMax} letters, digits and characters of ._-`;

/** Whether an account that is to be stored may have a name. */
export function isAccountName(name: string): boolean {
  return name.length <= nameLengthMax && /^[A-Za-z0-9._-]+$/.test(name);
}

/** What is wrong with the name of an account that is to be stored; undefined for a good one. */
export function findAccountNameProblem(name: string): string | undefined {
  return isAccountName(name) ? undefined : `name: ${accountNameRule}`;
}
