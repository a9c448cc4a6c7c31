import { parseExactJson } from '../../core/bounded-json.ts';
import {
  type Caller,
  type JournalEntry,
  type OpenRow,
  type SubmittedOperation,
  type Task,
  type TaskState,
  taskRetentionMs,
} from '../../core/tasks/task.ts';

/** Number of partitions over which the list of open tasks is spread. */
export const openShards = 16;

/** Journal text a header holds, bytes; what exceeds it moves to spill items. DynamoDB's limit for an item is 400 KB. */
export const inlineJournalMax = 64 * 1024;

/** Payload text a header holds, bytes; a larger one is compressed into chunks. */
export const inlinePayloadMax = 32 * 1024;

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
  /** Entries in order; one that starts with `SPILL#` names a spill item that holds the entries of one commit. */
  readonly journal: readonly string[];
  /** How many entries' events the bus has taken, as far as that was stored. Missing where it is 0. */
  readonly told?: number;
  /** The payload's JSON text when it is small. */
  readonly payload?: string;
  /** Where the payload's chunks are when it is not. */
  readonly chunks?: ChunkReference;
  readonly expiresAt: number;
}

/** Names the chunks of a payload and what they must amount to. */
export interface ChunkReference {
  /** Random: chunks of a submission that lost its race lie under another one and expire. */
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
 * Names a spill: the fence and sequence of the commit that writes it, and a random part. Spills of an expired task live on for a
 * while, and a new task of the same id has the same fences.
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

/**
 * Sort key of a row in the open list: accept time of fixed width, the task's id, and a random part that tells the rows of
 * simultaneous submissions apart.
 */
export function getOpenRowKey(id: string, options: { acceptedAtMs: number; random: string }): string {
  return [String(options.acceptedAtMs).padStart(15, '0'), id, options.random].join('#');
}

/** A row of the open list from its sort key. */
export function parseOpenRow(key: string): OpenRow {
  const [acceptedAt = '', taskId = ''] = key.split('#');
  return { key, taskId, acceptedAtMs: Number(acceptedAt) };
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
    changedAtMs: header.expiresAt * 1000 - taskRetentionMs,
    told: header.told ?? 0,
    journal: entries.map((text) => parseExactJson(text) as JournalEntry),
  };
}

/** Operations from a payload's JSON text. */
export function parsePayload(text: string): SubmittedOperation[] {
  return parseExactJson(text) as SubmittedOperation[];
}
