import type { JsonObject } from '#core/json.ts';
import type { Commit, JournalEntry } from '#tasks/task.ts';
import { OperationJournal, TaskJournal } from '#tasks/task-journal.ts';
import type { LateOperation } from '../provider-setup.ts';

/** A result as a client reads it. */
export interface OperationResult {
  readonly manifestNamesByNamespace: { readonly [namespace: string]: readonly string[] };
  readonly manifests: readonly JsonObject[];
  readonly createdArtifacts: readonly JsonObject[];
  readonly boundArtifacts: readonly JsonObject[];
}

/** What a run left behind. */
export interface TaskRecord {
  /** Committed entries, in order. */
  readonly journal: JournalEntry[];
  /** Number of commits made. */
  commits: number;
}

/** The history as a reader of the task would see it, without the phases. */
export function listHistory(record: TaskRecord): string[] {
  return record.journal.flatMap(({ lines }) => lines.map(({ status }) => status));
}

export function emptyRecord(): TaskRecord {
  return { journal: [], commits: 0 };
}

/** A worker that dies: thrown in place of a commit. */
export class CrashError extends Error {
  override name = 'CrashError';
}

/** How to run an operation. */
export interface RunOptions {
  /** Where earlier runs of the same task left their journal; the new entries are added to it. */
  readonly record?: TaskRecord;
  /** The worker dies instead of making the commit of this number, counted from 1 in this run. */
  readonly crashAtCommit?: number;
  /** As the worker's. */
  readonly signal?: AbortSignal;
}

/**
 * Prepares and runs one operation with a journal of its own, the way the task engine does it.
 *
 * @returns the result object as a client reads it; an empty one where there is none
 */
export async function runOperation(
  operation: LateOperation,
  description: JsonObject,
  options: RunOptions = {},
): Promise<OperationResult> {
  const { record = emptyRecord(), crashAtCommit, signal = new AbortController().signal } = options;
  let commitsNow = 0;
  const commit = async ({ entries }: Commit): Promise<void> => {
    commitsNow += 1;
    if (commitsNow === crashAtCommit) throw new CrashError();
    record.commits += 1;
    record.journal.push(...entries.map((entry) => JSON.parse(JSON.stringify(entry)) as JournalEntry));
  };
  const journal = new TaskJournal({ committed: [...record.journal], prefix: '0/', commit });
  await operation.loaded;
  const prepared = operation.prepare(description);
  const own = new OperationJournal(journal, { index: 0, phase: prepared.phase, signal });
  const result = await prepared.run(own);
  if (result !== undefined) own.addResult(result);
  journal.add({ key: 'op/0', ...own.takeLines() });
  await journal.end('COMPLETED');
  return JSON.parse(JSON.stringify(result ?? {}));
}
