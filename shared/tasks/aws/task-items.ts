import { parseExactJson } from '#core/bounded-json.ts';
import { isJsonObject } from '#core/json.ts';
import { taskReader as reader } from '#platform/aws/item-reader.ts';
import type { Item, ItemKey } from '#platform/aws/table.ts';
import { firstJournalFormat } from '../journal-format.ts';
import {
  type AgentTake,
  type Caller,
  type JournalEntry,
  type OpenRow,
  type SubmittedOperation,
  type Task,
  type TaskInbox,
  type TaskPart,
  type TaskState,
  type TaskStatus,
  taskRetentionMs,
} from '../task.ts';

/** Number of partitions over which the list of open tasks is spread. */
export const openShards = 16;

/** Bytes of journal text in a header; more moves to spill items. DynamoDB's limit for an item is 400 KB. */
export const inlineJournalMax = 64 * 1024;

/** Bytes of payload text in a header; a larger payload is compressed into chunks. */
export const inlinePayloadMax = 32 * 1024;

/** The format of a journal whose task was not begun. */
export const unbegun = 0;

const spillPrefix = 'SPILL#';

/** A task's header as stored. Journal entries are JSON texts, so that appending one needs no parse of the others. */
export interface HeaderItem {
  readonly pk: string;
  readonly sk: string;
  readonly taskId: string;
  readonly requestId: string;
  readonly state: TaskState;
  readonly acceptedAt: number;
  readonly ownerId: string;
  readonly account: string;
  /** Missing in tasks of releases before authorization; then `account` is all there is. */
  readonly accounts?: readonly string[];
  /** Missing where it is false. */
  readonly isRestricted?: boolean;
  readonly caller: Caller;
  readonly run: number;
  readonly attempts: number;
  readonly fence: number;
  readonly sequence: number;
  readonly leaseUntil: number;
  readonly openRow: string;
  /** The agent that took it last, and when. Missing where none has. */
  readonly agentId?: string;
  readonly takenAt?: number;
  /** When it ended. Missing until then, and in tasks of earlier releases. */
  readonly endedAt?: number;
  /** The account whose agents run it, and milliseconds for which it waits for one. Missing where the queue's workers run it. */
  readonly inbox?: string;
  readonly waitMs?: number;
  /** Its parts, where it has several, and the index of the present one, to which `inbox` and `waitMs` belong. */
  readonly parts?: readonly StoredPart[];
  readonly part?: number;
  /** Format of its journal; 0 until it was begun. Missing in tasks of releases that did not store it. */
  readonly journalFormat?: number;
  /** Entries in order; one that starts with `SPILL#` names a spill item that holds the entries of one commit. */
  readonly journal: readonly string[];
  /** Number of entries whose events the bus has taken, as far as stored. Missing where it is 0. */
  readonly told?: number;
  /** Whether it was put down to wait. Missing where it was not. */
  readonly isPutDown?: boolean;
  /** The user who cancelled it. Missing where nobody did. */
  readonly cancelledBy?: string;
  /** The payload's JSON text when it is small. */
  readonly payload?: string;
  /** Where the chunks of a larger payload are. */
  readonly chunks?: ChunkReference;
  readonly expiresAt: number;
}

/** A part of a task: its number of operations, and where they wait for an agent. */
export interface StoredPart {
  readonly operations: number;
  readonly inbox?: string;
  readonly waitMs?: number;
}

/** Names the chunks of a payload, and the hash of the text that they make up. */
export interface ChunkReference {
  /** Random: chunks of a submission that lost its race are under another one and expire. */
  readonly attempt: string;
  readonly count: number;
  /** SHA-256 of the payload's JSON text, hex. */
  readonly hash: string;
}

/** Partition key of a task's header and spills. */
export function getTaskKey(id: string): string {
  return `TASK#${id}`;
}

/** Key of a task's header. */
export function getHeaderKey(id: string): { pk: string; sk: string } {
  return { pk: getTaskKey(id), sk: 'HEADER' };
}

/** Partition key of a payload's chunks. */
export function getPayloadKey(attempt: string): string {
  return `PAYLOAD#${attempt}`;
}

/** Sort key of the n-th chunk: of fixed width, so that they sort. */
export function getChunkKey(index: number): string {
  return String(index).padStart(6, '0');
}

/**
 * Names a spill: the fence and sequence of the commit that writes it, and a random part. Spills of an expired task remain for a while, and
 * a new task of the same id has the same fences.
 */
export function getSpillKey(commit: { fence: number; sequence: number; random: string }): string {
  return `${spillPrefix}${getChunkKey(commit.fence)}#${getChunkKey(commit.sequence)}#${commit.random}`;
}

/** True for a journal text that names a spill; entries start with a brace. */
export function isSpillKey(text: string): boolean {
  return text.startsWith(spillPrefix);
}

/** Partition key of the open-list shard of a task. */
export function getOpenKey(shard: number): string {
  return `OPEN#${shard}`;
}

/** The shard of a task: by a hash of its id. */
export function getOpenShard(id: string): number {
  let hash = 0;
  for (let index = 0; index < id.length; index += 1) hash = (hash * 31 + id.charCodeAt(index)) | 0;
  return (hash >>> 0) % openShards;
}

/** Sort key of an open row: accept time of fixed width, the task's id, and a random part that keeps simultaneous submissions apart. */
export function getOpenRowKey(id: string, options: { acceptedAtMs: number; random: string }): string {
  return [String(options.acceptedAtMs).padStart(15, '0'), id, options.random].join('#');
}

/** A row of the open list from its sort key. */
export function parseOpenRow(key: string): OpenRow {
  const [acceptedAt = '', taskId = ''] = key.split('#');
  return { key, taskId, acceptedAtMs: Number(acceptedAt) };
}

/** Key of a row of the open list. */
export function toOpenRowKey({ taskId, key }: Pick<OpenRow, 'taskId' | 'key'>): ItemKey {
  return { pk: getOpenKey(getOpenShard(taskId)), sk: key };
}

const headerTexts = 'pk sk taskId requestId ownerId account openRow'.split(' ');
const headerNumbers = 'acceptedAt run attempts fence sequence leaseUntil expiresAt'.split(' ');

/** The header of an item: the item itself. @throws MalformedItemError */
export function parseHeader(item: Item): HeaderItem {
  checkHeader(item);
  return item;
}

function checkHeader(item: Item): asserts item is Item & HeaderItem {
  reader.checkForm(item);
  for (const attribute of headerTexts) reader.getText(item, attribute);
  for (const attribute of headerNumbers) reader.getNumber(item, attribute);
  if (!isState(item['state'])) reader.fail(item, { attribute: 'state', expected: 'the state of a task' });
  if (!isCaller(item['caller'])) reader.fail(item, { attribute: 'caller', expected: 'a map of texts' });
  reader.getTexts(item, 'journal');
  reader.findTexts(item, 'accounts');
  reader.findBoolean(item, 'isRestricted');
  reader.findNumber(item, 'told');
  reader.findBoolean(item, 'isPutDown');
  reader.findText(item, 'cancelledBy');
  reader.findText(item, 'payload');
  reader.findText(item, 'agentId');
  reader.findNumber(item, 'takenAt');
  reader.findNumber(item, 'endedAt');
  reader.findNumber(item, 'journalFormat');
  reader.findText(item, 'inbox');
  reader.findNumber(item, 'waitMs');
  reader.findNumber(item, 'part');
  const { parts = [] } = item;
  if (!Array.isArray(parts) || !parts.every(isPart))
    reader.fail(item, { attribute: 'parts', expected: 'a list of parts' });
  const chunks = reader.findMap(item, 'chunks');
  if (chunks !== undefined) checkChunks(chunks, reader.describeMap(item, 'chunks'));
}

/** The task of a header, given the texts of all its journal entries in order. */
export function parseTask(header: HeaderItem, entries: readonly string[] = header.journal): Task {
  return {
    id: header.taskId,
    requestId: header.requestId,
    state: header.state,
    acceptedAtMs: header.acceptedAt,
    ownerId: header.ownerId,
    account: header.account,
    accounts: header.accounts ?? [header.account],
    isRestricted: header.isRestricted ?? false,
    caller: header.caller,
    run: header.run,
    attempts: header.attempts,
    leaseUntilMs: header.leaseUntil,
    openRow: header.openRow,
    taken: toTake(header),
    endedAtMs: header.endedAt,
    inbox: toInbox(header),
    ...toParting(header),
    journalFormat: toJournalFormat(header),
    hasChunks: header.chunks !== undefined,
    changedAtMs: toChangedAtMs(header),
    told: header.told ?? 0,
    isPutDown: header.isPutDown,
    cancelledBy: header.cancelledBy,
    journal: entries.map((text) => parseEntry(text, header)),
  };
}

/** The format of a task's journal; undefined while it was not begun. */
export function toJournalFormat({ journalFormat }: Pick<HeaderItem, 'journalFormat'>): number | undefined {
  return journalFormat === unbegun ? undefined : (journalFormat ?? firstJournalFormat);
}

function toTake({ agentId, takenAt }: HeaderItem): AgentTake | undefined {
  return agentId === undefined || takenAt === undefined ? undefined : { agentId, atMs: takenAt };
}

/** When more than a task's lease last changed, milliseconds, exact to a second. */
function toChangedAtMs({ expiresAt }: Pick<HeaderItem, 'expiresAt'>): number {
  return expiresAt * 1000 - taskRetentionMs;
}

/** The status of a task. */
export function toStatus(header: HeaderItem): TaskStatus {
  const { taskId: id, state, account, leaseUntil: leaseUntilMs, openRow } = header;
  const inbox = toInbox(header);
  const { parts } = toParting(header);
  return {
    ...{ id, state, account, leaseUntilMs, openRow, inbox, parts },
    changedAtMs: toChangedAtMs(header),
    journalFormat: toJournalFormat(header),
    cancelledBy: header.cancelledBy,
  };
}

/** The parts of a task, and the index of the present one. */
export function toParting({ parts, part }: Pick<HeaderItem, 'parts' | 'part'>): Pick<Task, 'parts' | 'part'> {
  if (parts === undefined) return {};
  return {
    parts: parts.map((each) => ({ operations: each.operations, inbox: toInbox(each) })),
    part: part ?? 0,
  };
}

/** The attributes of a header for the parts of a task that begins. */
export function toPartAttributes(parts: readonly TaskPart[] | undefined): Pick<HeaderItem, 'parts' | 'part'> {
  if (parts === undefined) return {};
  return {
    parts: parts.map(({ operations, inbox }) => ({ operations, ...toInboxAttributes(inbox) })),
    part: 0,
  };
}

/** Where a task waits for an agent, if it does. */
export function toInbox({ inbox, waitMs = 0 }: Pick<HeaderItem, 'inbox' | 'waitMs'>): TaskInbox | undefined {
  return inbox === undefined ? undefined : { account: inbox, waitMs };
}

/** The attributes of a header for a task's inbox. */
export function toInboxAttributes(inbox: TaskInbox | undefined): Pick<HeaderItem, 'inbox' | 'waitMs'> {
  return inbox === undefined ? {} : { inbox: inbox.account, waitMs: inbox.waitMs };
}

/** Operations from a payload's JSON text. @throws MalformedItemError that names the header, which holds or names the payload */
export function parsePayload(text: string, { pk, sk }: Pick<HeaderItem, 'pk' | 'sk'>): SubmittedOperation[] {
  const value = parseExactJson(text);
  const malformed = { attribute: 'payload', expected: 'a list of operations' };
  return areOperations(value) ? value : reader.fail({ pk, sk }, malformed);
}

/** Whether a value is the state of a task. */
export function isState(value: unknown): value is TaskState {
  return value === 'STARTED' || value === 'COMPLETED' || value === 'FAILED' || value === 'FAILED_RETRYABLE';
}

function isPart(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const { operations, inbox, waitMs } = value;
  const isWaiting = typeof inbox === 'string' && typeof waitMs === 'number';
  return typeof operations === 'number' && (isWaiting || inbox === undefined);
}

function isCaller(caller: unknown): caller is Caller {
  return isJsonObject(caller) && Object.values(caller).every((value) => typeof value === 'string');
}

function checkChunks(chunks: Item, where: string): void {
  reader.getText(chunks, 'attempt', where);
  reader.getNumber(chunks, 'count', where);
  reader.getText(chunks, 'hash', where);
}

function parseEntry(text: string, header: HeaderItem): JournalEntry {
  const value = parseExactJson(text);
  const malformed = { attribute: 'journal', expected: 'journal entries' };
  return isEntry(value) ? value : reader.fail({ ...header }, malformed);
}

/** Whether an entry's own members are valid; of its lists it only checks that they are lists. */
function isEntry(value: unknown): value is JournalEntry {
  if (!isJsonObject(value)) return false;
  const { key, lines, results, outputs } = value;
  return typeof key === 'string' && Array.isArray(lines) && isListOrNone(results) && isListOrNone(outputs);
}

function isListOrNone(value: unknown): boolean {
  return value === undefined || Array.isArray(value);
}

function areOperations(value: unknown): value is SubmittedOperation[] {
  return Array.isArray(value) && value.every(isOperation);
}

function isOperation(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const { provider, name, description } = value;
  return typeof provider === 'string' && typeof name === 'string' && isJsonObject(description);
}
