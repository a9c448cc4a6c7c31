import { toSeconds } from '#core/clock.ts';
import { isJsonObject, type JsonObject } from '#core/json.ts';
import { MalformedItemError, accountReader as reader } from '#platform/aws/item-reader.ts';
import type { Item, ItemKey } from '#platform/aws/table.ts';
import type {
  AccountOrigin,
  AccountRevision,
  ChangedAccount,
  StoredAccount,
} from '../model/account-store.ts';

/** Milliseconds that a change stays in its account's history. */
export const historyRetentionMs = 400 * 24 * 3_600_000;

/** Milliseconds that a change stays in the list of all accounts' changes. */
export const changeRetentionMs = 24 * 3_600_000;

/** An account in the table, or what remains of a deleted one, so that its revisions continue. */
export interface AccountState extends StoredAccount {
  readonly isDeleted: boolean;
}

/** A change that was begun and may not be complete. */
export interface BegunChange {
  readonly key: ItemKey;
  readonly name: string;
  readonly type: string;
  readonly revision: number;
  readonly atMs: number;
}

/** Key of an account's state, in lower case: names are unique whatever their case. */
export function getAccountKey(name: string): ItemKey {
  return { pk: toPartition(name), sk: 'CURRENT' };
}

/** Key of one change of an account. */
export function getRevisionKey(name: string, revision: number): ItemKey {
  return { pk: toPartition(name), sk: `${revisionPrefix}${pad(revision, 6)}` };
}

/** Prefix of the sort keys of one account's changes. */
export const revisionPrefix = 'REV#';

/** Key of a row of the directory, which lists the accounts of a type. */
export function getDirectoryKey(type: string, name: string): ItemKey {
  return { pk: getDirectoryPartition(type), sk: name };
}

/** Partition of the directory of a type. */
export function getDirectoryPartition(type: string): string {
  return `NAMES#${type}`;
}

/** Key of the number that grows with each change. */
export const versionKey: ItemKey = { pk: 'VERSION', sk: '#' };

/** Partition of the changes of all accounts, by version. */
export const changesPartition = 'CHANGES';

/** Sort key of the change that made a version. */
export function getChangeSort(version: number): string {
  return pad(version, 13);
}

/** Partition of changes that were begun. */
export const begunPartition = 'BEGUN';

/** Key of a begun change. Two writers of the same revision share it: one of them fails. */
export function getBegunKey({ name, revision }: Pick<StoredAccount, 'name' | 'revision'>): ItemKey {
  return { pk: begunPartition, sk: `${name.toLowerCase()}#${pad(revision, 6)}` };
}

/** The item of an account's state. */
export function toAccountItem(state: AccountState): Item {
  const { isDeleted, body, ...attributes } = state;
  return {
    ...getAccountKey(state.name),
    ...attributes,
    ...(isDeleted ? { deleted: true } : { body: JSON.stringify(body) }),
  };
}

/** Reads an item of `toAccountItem`. @param name its name, for one that cannot be read */
export function parseAccountItem(item: Item, name: string): AccountState {
  try {
    return readAccountItem(item);
  } catch (error) {
    if (!(error instanceof MalformedItemError)) throw error;
    return toUnreadable(item, name, error.message);
  }
}

/** An unreadable account is not absent: its name is taken, but it cannot be used. */
function toUnreadable(item: Item, name: string, unreadable: string): AccountState {
  const { name: own, type, revision } = item;
  return {
    name: typeof own === 'string' ? own : name,
    type: typeof type === 'string' ? type : '',
    body: {},
    revision: typeof revision === 'number' ? revision : 0,
    ...{ createdAtMs: 0, modifiedAtMs: 0, modifiedBy: undefined, origin: 'credentials', isDeleted: false },
    unreadable,
  };
}

function readAccountItem(item: Item): AccountState {
  reader.checkForm(item);
  const isDeleted = reader.findBoolean(item, 'deleted') === true;
  return {
    name: reader.getText(item, 'name'),
    type: reader.getText(item, 'type'),
    body: isDeleted ? {} : reader.getJson(item, 'body', isBody),
    revision: reader.getNumber(item, 'revision'),
    createdAtMs: reader.getNumber(item, 'createdAtMs'),
    modifiedAtMs: reader.getNumber(item, 'modifiedAtMs'),
    modifiedBy: reader.findText(item, 'modifiedBy'),
    origin: getOrigin(item),
    isDeleted,
  };
}

/** The item of the change that made a state. */
export function toRevisionItem(state: AccountState): Item {
  const { name, revision, modifiedAtMs, modifiedBy, body, isDeleted } = state;
  return {
    ...getRevisionKey(name, revision),
    revision,
    timestamp: modifiedAtMs,
    modifiedBy,
    ...(!isDeleted && { body: JSON.stringify(body) }),
    expiresAt: toSeconds(modifiedAtMs + historyRetentionMs),
  };
}

/** The change that made a state. */
export function toRevision({
  revision,
  modifiedAtMs,
  modifiedBy,
  body,
  isDeleted,
}: AccountState): AccountRevision {
  return { revision, timestampMs: modifiedAtMs, body: isDeleted ? undefined : body, modifiedBy };
}

/** Reads an item of `toRevisionItem`. */
export function parseRevisionItem(item: Item): AccountRevision {
  reader.checkForm(item);
  return {
    revision: reader.getNumber(item, 'revision'),
    timestampMs: reader.getNumber(item, 'timestamp'),
    body: reader.findJson(item, 'body', isBody),
    modifiedBy: reader.findText(item, 'modifiedBy'),
  };
}

/** The item of a change in the list of all accounts' changes. */
export function toChangeItem({ name, type, revision }: AccountState, version: number, nowMs: number): Item {
  const expiresAt = toSeconds(nowMs + changeRetentionMs);
  return { pk: changesPartition, sk: getChangeSort(version), name, type, revision, version, expiresAt };
}

/** Reads an item of `toChangeItem`. */
export function parseChangeItem(item: Item): ChangedAccount {
  return { version: reader.getNumber(item, 'version'), name: reader.getText(item, 'name') };
}

/** The item of a begun change. */
export function toBegunItem({ name, type, revision }: AccountState, nowMs: number): Item {
  return { ...getBegunKey({ name, revision }), name, type, revision, atMs: nowMs };
}

/** Reads an item of `toBegunItem`. */
export function parseBegunItem(item: Item): BegunChange {
  return {
    key: { pk: begunPartition, sk: reader.getText(item, 'sk') },
    name: reader.getText(item, 'name'),
    type: reader.getText(item, 'type'),
    revision: reader.getNumber(item, 'revision'),
    atMs: reader.getNumber(item, 'atMs'),
  };
}

/** The version in an item of `versionKey`. */
export function parseVersion(item: Item | undefined): number {
  return item === undefined ? 0 : reader.getNumber(item, 'version');
}

/** Whether readers may use an item with an expiry: DynamoDB deletes late. */
export function isUnexpired(item: Item, nowMs: number): boolean {
  return reader.getNumber(item, 'expiresAt') > toSeconds(nowMs);
}

const origins: readonly AccountOrigin[] = ['credentials', 'providers', 'agents'];

function getOrigin(item: Item): AccountOrigin {
  const text = reader.getText(item, 'origin');
  const origin = origins.find((known) => known === text);
  return origin ?? reader.fail(item, { attribute: 'origin', expected: `one of ${origins.join(', ')}` });
}

function toPartition(name: string): string {
  return `ACCOUNT#${name.toLowerCase()}`;
}

function pad(value: number, digits: number): string {
  return String(value).padStart(digits, '0');
}

function isBody(value: unknown): value is JsonObject {
  return isJsonObject(value);
}
