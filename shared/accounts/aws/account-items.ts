import { isJsonObject, type JsonObject } from '#core/json.ts';
import { MalformedItemError, accountReader as reader } from '#platform/aws/item-reader.ts';
import type { Item, ItemKey } from '#platform/aws/table.ts';
import type {
  AccountOrigin,
  AccountRevision,
  ChangedAccount,
  StoredAccount,
} from '../model/account-store.ts';

/** Milliseconds that a change stays in the history of its account. */
export const historyRetentionMs = 400 * 24 * 3_600_000;

/** Milliseconds that a change is listed among the changes of all accounts. */
export const changeRetentionMs = 24 * 3_600_000;

/** What an account is in the table: the account, or what is left of a deleted one, so that its revisions go on. */
export interface AccountState extends StoredAccount {
  readonly isDeleted: boolean;
}

/** A change that was begun, and of which nobody knows yet that it was completed. */
export interface BegunChange {
  readonly key: ItemKey;
  readonly name: string;
  readonly type: string;
  readonly revision: number;
  readonly atMs: number;
}

/** Key of an account's state. Names are unique whatever their case, so the key has them in lower case. */
export function getAccountKey(name: string): ItemKey {
  return { pk: toPartition(name), sk: 'CURRENT' };
}

/** Key of one change of an account. */
export function getRevisionKey(name: string, revision: number): ItemKey {
  return { pk: toPartition(name), sk: `${revisionPrefix}${pad(revision, 6)}` };
}

/** What sort keys of changes of one account begin with. */
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

/** Key of a change that was begun. Two writers of the same revision share it: one of them fails. */
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

/** Reads what `toAccountItem` made. @param name what it is called, for one that cannot be read */
export function parseAccountItem(item: Item, name: string): AccountState {
  try {
    return readAccountItem(item);
  } catch (error) {
    if (!(error instanceof MalformedItemError)) throw error;
    return toUnreadable(item, name, error.message);
  }
}

/** What is not absent, so that nobody takes its name, and is nothing that anybody could use. */
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

/** Reads what `toRevisionItem` made. */
export function parseRevisionItem(item: Item): AccountRevision {
  reader.checkForm(item);
  return {
    revision: reader.getNumber(item, 'revision'),
    timestampMs: reader.getNumber(item, 'timestamp'),
    body: reader.findJson(item, 'body', isBody),
    modifiedBy: reader.findText(item, 'modifiedBy'),
  };
}

/** The item of a change among those of all accounts. */
export function toChangeItem({ name, type, revision }: AccountState, version: number, nowMs: number): Item {
  const expiresAt = toSeconds(nowMs + changeRetentionMs);
  return { pk: changesPartition, sk: getChangeSort(version), name, type, revision, version, expiresAt };
}

/** Reads what `toChangeItem` made. */
export function parseChangeItem(item: Item): ChangedAccount {
  return { version: reader.getNumber(item, 'version'), name: reader.getText(item, 'name') };
}

/** The item of a change that begins. */
export function toBegunItem({ name, type, revision }: AccountState, nowMs: number): Item {
  return { ...getBegunKey({ name, revision }), name, type, revision, atMs: nowMs };
}

/** Reads what `toBegunItem` made. */
export function parseBegunItem(item: Item): BegunChange {
  return {
    key: { pk: begunPartition, sk: reader.getText(item, 'sk') },
    name: reader.getText(item, 'name'),
    type: reader.getText(item, 'type'),
    revision: reader.getNumber(item, 'revision'),
    atMs: reader.getNumber(item, 'atMs'),
  };
}

/** The version that an item of `versionKey` has. */
export function parseVersion(item: Item | undefined): number {
  return item === undefined ? 0 : reader.getNumber(item, 'version');
}

/** Whether an item with an expiry is still there for readers: DynamoDB deletes late. */
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

function toSeconds(ms: number): number {
  return Math.floor(ms / 1000);
}

function isBody(value: unknown): value is JsonObject {
  return isJsonObject(value);
}
