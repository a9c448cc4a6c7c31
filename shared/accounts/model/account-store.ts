import type { JsonObject } from '#core/json.ts';

/** The API that created an account. */
export type AccountOrigin = 'credentials' | 'providers' | 'agents';

/** An account as defined by an API, before it is opened. */
export interface AccountDefinition {
  /** Unique over all providers, whatever its case: see {@link isAccountName}. */
  readonly name: string;
  /** Id of its provider, such as `kubernetes`. */
  readonly type: string;
  /** The definition as given, with name and type; at most {@link accountBodyBytesMax} bytes as JSON. */
  readonly body: JsonObject;
}

/** An account in the store. */
export interface StoredAccount extends AccountDefinition {
  /** From 1, one more with each change of the name, deletions included. */
  readonly revision: number;
  readonly createdAtMs: number;
  readonly modifiedAtMs: number;
  /** Undefined for an anonymous caller. */
  readonly modifiedBy: string | undefined;
  readonly origin: AccountOrigin;
  /** Why it cannot be read: another release wrote it. It is listed and kept, but cannot be used. Left out for readable accounts. */
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

/** The writer of an account, and the revision that they read. */
export interface AccountWriter {
  /** The revision that was read; undefined where there was no account. The change is refused when the revision has changed. */
  readonly expected: number | undefined;
  readonly modifiedBy: string | undefined;
}

/** A changed name, and the store's version after the change. */
export interface ChangedAccount {
  readonly version: number;
  readonly name: string;
}

/** Which accounts to list. */
export interface AccountPage {
  readonly type: string;
  /** Only this name and later ones, in the order of code units. Default: all. */
  readonly startingName?: string | undefined;
  /** Maximum number. Default: all. */
  readonly limit?: number | undefined;
}

/**
 * The accounts created by an API. Each change is one conditional write: of several at the same time one succeeds. When a writer dies during
 * a change, it is either undone or completed later; readers see it as a whole.
 */
export interface AccountStore {
  /** The account of exactly this name; undefined if there is none. */
  find(name: string): Promise<StoredAccount | undefined>;
  /** The account of this name in any case; undefined if there is none: a name is taken in all of them. */
  findAnyCase(name: string): Promise<StoredAccount | undefined>;
  /** Creates or replaces an account. @returns undefined when it is not as read before @throws ConflictError when it cannot be read */
  save(
    definition: AccountDefinition & Pick<StoredAccount, 'origin'>,
    writer: AccountWriter,
  ): Promise<StoredAccount | undefined>;
  /** Deletes an account. @returns the revision, or undefined when it is not as read before @throws ConflictError when it cannot be read */
  remove(name: string, writer: AccountWriter): Promise<number | undefined>;
  /** Accounts by name, ascending. */
  list(page: AccountPage): Promise<readonly StoredAccount[]>;
  /** The existing accounts of these names, in any order. */
  findMany(names: readonly string[]): Promise<readonly StoredAccount[]>;
  /** Every change of a name in the last 400 days, newest first; empty for an unknown name. */
  listHistory(name: string): Promise<readonly AccountRevision[]>;
  /** A number that grows with each change; 0 before the first. @param options.consistent false for half the price */
  readVersion(options: { readonly consistent: boolean }): Promise<number>;
  /** Changes after a version, ascending, up to a limit. Those of more than 24 hours ago may be missing. */
  listChanges(after: number, limit: number): Promise<readonly ChangedAccount[]>;
  /** Completes changes whose writers died, and forgets those that never took effect. @returns how many were completed */
  completeChanges(): Promise<number>;
}

/** Bytes of a definition as JSON, at most. */
export const accountBodyBytesMax = 256 * 1024;

/** Characters of a name, at most. */
const nameLengthMax = 253;

/** The rule for the name of an account to be stored. */
export const accountNameRule = `expected 1 to ${nameLengthMax} letters, digits and characters of ._-`;

/** Whether an account to be stored may have this name. */
export function isAccountName(name: string): boolean {
  return name.length <= nameLengthMax && /^[A-Za-z0-9._-]+$/.test(name);
}

/** What is wrong with the name of an account to be stored; undefined for a valid one. */
export function findAccountNameProblem(name: string): string | undefined {
  return isAccountName(name) ? undefined : `name: ${accountNameRule}`;
}
