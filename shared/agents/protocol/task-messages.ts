import { type JsonBounds, JsonBoundsError, parseBoundedJson, parseExactJson } from '#core/bounded-json.ts';
import { InvalidInputError } from '#core/errors.ts';
import { JsonNumberError } from '#core/exact-json.ts';
import { isJsonObject, type JsonValue } from '#core/json.ts';
import { bodyLevelsMax, bodyValuesMax } from '#core/request-limits.ts';
import { getRunPrefix } from '#tasks/run-task.ts';
import type { Commit, HistoryLine, JournalEntry, LeasedTask, SubmittedOperation, Task } from '#tasks/task.ts';
import { findPartRange, type Parted, type PartRange } from '#tasks/task-parts.ts';
import { type CommitMessage, commitBytesMax, entryBytesMax, type LeasedTaskMessage } from './messages.ts';

const entryBounds: JsonBounds = { depthMax: bodyLevelsMax, valuesMax: bodyValuesMax };

/** In the place of an operation of somebody else, which is done. */
const doneElsewhere: SubmittedOperation = { provider: '', name: '', description: {} };

/**
 * A leased task as an agent gets it: what earlier runs left is no matter of it, and what operations of other parts of the task hold,
 * or left behind, neither: of those that are done it learns whether they failed, and of those that follow that there are some.
 */
export function toLeasedTaskMessage(
  { task, lease: { fence, sequence } }: Pick<LeasedTask, 'task' | 'lease'>,
  operations: readonly SubmittedOperation[],
): LeasedTaskMessage {
  const prefix = getRunPrefix(task.run);
  const range = findPartRange(task);
  const own = task.journal.filter(({ key }) => key.startsWith(prefix));
  const journal = range === undefined ? own : own.flatMap((entry) => hideOthers(entry, { prefix, range }));
  const known = operations.slice(0, range?.to);
  const told = known.map((operation, index) => (index < (range?.from ?? 0) ? doneElsewhere : operation));
  return {
    lease: { fence, sequence },
    id: task.id,
    account: task.inbox?.account ?? task.account,
    run: task.run,
    attempts: task.attempts,
    acceptedAtMs: task.acceptedAtMs,
    caller: { ...task.caller },
    waitMs: task.inbox?.waitMs ?? 0,
    operations: JSON.stringify(told),
    journal: journal.map((entry) => JSON.stringify(entry)),
    putsDown: true,
    ...(range?.isLast === false && { handsOver: true }),
  };
}

/** Of an operation of another part that it is done, and whether it failed. */
function hideOthers(
  { key, value, ...entry }: JournalEntry,
  { prefix, range }: { readonly prefix: string; readonly range: PartRange },
): JournalEntry[] {
  if (isWithin(key.slice(prefix.length), range))
    return [{ key, ...entry, ...(value !== undefined && { value }) }];
  const isWhole = /^op\/\d+$/.test(key.slice(prefix.length));
  return isWhole ? [{ key, lines: [], ...(value !== undefined && { value: { failed: true } }) }] : [];
}

/** Whether an entry is of an operation of this part, or of none. @param key without the prefix of its run */
function isWithin(key: string, { from, to }: PartRange): boolean {
  const [, index] = /^op\/(\d{1,9})(?:\/|$)/.exec(key) ?? [];
  if (index === undefined) return !key.startsWith('op/');
  return Number(index) >= from && Number(index) < to;
}

/** The task of such a message, as far as running it goes. */
export function fromLeasedTaskMessage(message: LeasedTaskMessage, ownerId: string): Task {
  const { id, account, run, attempts, acceptedAtMs, caller, waitMs, journal, handsOver } = message;
  const inbox = { account, waitMs };
  const parts = [{ operations: parseOperations(message).length, inbox }, { operations: 1 }];
  return {
    ...{ id, account, run, attempts, acceptedAtMs, caller, ownerId, inbox },
    accounts: [account],
    ...(handsOver && { parts, part: 0 }),
    requestId: '',
    state: 'STARTED',
    isRestricted: false,
    changedAtMs: acceptedAtMs,
    leaseUntilMs: 0,
    openRow: '',
    hasChunks: false,
    told: 0,
    journal: journal.map((text) => parseExactJson(text) as JournalEntry),
  };
}

/** The operations of such a message. */
export function parseOperations({ operations }: LeasedTaskMessage): readonly SubmittedOperation[] {
  return parseExactJson(operations) as readonly SubmittedOperation[];
}

/** A commit as it is sent. The events on the bus are no matter of an agent. */
export function toCommitMessage(
  lease: CommitMessage['lease'],
  { next, lookSeconds, entries }: Commit,
): CommitMessage {
  const texts = entries.map((entry) => JSON.stringify(entry));
  return { lease, next, entries: texts, ...(lookSeconds !== undefined && { lookSeconds }) };
}

/** The parts of a task that the entries of a commit are held against. */
export interface CommittedTask extends Parted {
  /** Keys of its entries begin with it. */
  readonly run: number;
}

/**
 * The entries of a commit that came from outside: of operations of the task's present part, and no others.
 *
 * @throws InvalidInputError naming the entry, and what was expected; or `next`, where that is none that may follow the part
 */
export function parseEntries({ entries, next }: CommitMessage, task: CommittedTask): JournalEntry[] {
  const range = findPartRange(task);
  const isLast = range?.isLast ?? true;
  if (next === 'handover' && isLast)
    throw new InvalidInputError('next: expected an end, for no other part follows');
  if (next === 'COMPLETED' && !isLast)
    throw new InvalidInputError('next: expected handover, for operations of other accounts follow');
  const sizes = entries.map((text) => Buffer.byteLength(text));
  const large = sizes.findIndex((size) => size > entryBytesMax);
  if (large >= 0) throw new InvalidInputError(`entries[${large}]: expected ${entryBytesMax} bytes at most`);
  if (sizes.reduce((sum, size) => sum + size, 0) > commitBytesMax) {
    throw new InvalidInputError(`entries: expected ${commitBytesMax} bytes at most, all together`);
  }
  const prefix = getRunPrefix(task.run);
  return entries.map((text, index) => {
    const at = `entries[${index}]`;
    const entry = parseEntry(text, { at, prefix });
    if (range === undefined || isWithin(entry.key.slice(prefix.length), range)) return entry;
    throw new InvalidInputError(`${at}: expected a key of operations ${range.from} to ${range.to - 1}`);
  });
}

function parseEntry(
  text: string,
  { at, prefix }: { readonly at: string; readonly prefix: string },
): JournalEntry {
  const refuse = (expected: string): never => {
    throw new InvalidInputError(`${at}: expected ${expected}`);
  };
  const value = parseText(text, refuse);
  if (!isJsonObject(value)) return refuse('an object');
  const { key, lines, results, outputs, value: outcome } = value;
  if (typeof key !== 'string' || !key.startsWith(prefix)) return refuse(`a key that begins with ${prefix}`);
  if (!isListOf(lines, isLine)) return refuse('a list of lines, each with phase and status');
  if (results !== undefined && !isListOf(results, isJsonText)) return refuse('results that are JSON texts');
  if (outputs !== undefined && !isListOf(outputs, isOutput)) return refuse('outputs whose members are texts');
  return {
    key,
    lines,
    ...(outcome !== undefined && { value: outcome }),
    ...(results !== undefined && { results }),
    ...(outputs !== undefined && { outputs: outputs as unknown as NonNullable<JournalEntry['outputs']> }),
  };
}

function parseText(text: string, refuse: (expected: string) => never): JsonValue {
  try {
    return parseBoundedJson(text, entryBounds).value;
  } catch (error) {
    const isBounds = error instanceof JsonBoundsError || error instanceof JsonNumberError;
    return refuse(isBounds ? `JSON that is within bounds: it ${error.message}` : 'JSON');
  }
}

function isListOf<T extends JsonValue>(
  value: JsonValue | undefined,
  isItem: (item: JsonValue) => item is T,
): value is T[] {
  return Array.isArray(value) && value.every(isItem);
}

function isLine(value: JsonValue): value is JsonValue & HistoryLine {
  return isJsonObject(value) && typeof value['phase'] === 'string' && typeof value['status'] === 'string';
}

function isOutput(value: JsonValue): value is { [name: string]: JsonValue } {
  return isJsonObject(value) && Object.values(value).every((member) => typeof member === 'string');
}

/** Results go into answers as they are: what is none would break them. */
function isJsonText(value: JsonValue): value is string {
  if (typeof value !== 'string') return false;
  try {
    parseBoundedJson(value, entryBounds);
    return true;
  } catch {
    return false;
  }
}
