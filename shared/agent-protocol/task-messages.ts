import { type JsonBounds, JsonBoundsError, parseBoundedJson, parseExactJson } from '../core/bounded-json.ts';
import { InvalidInputError } from '../core/errors.ts';
import { JsonNumberError } from '../core/exact-json.ts';
import { isJsonObject, type JsonValue } from '../core/json.ts';
import { bodyLevelsMax, bodyValuesMax } from '../core/request-limits.ts';
import { getRunPrefix } from '../core/tasks/run-task.ts';
import type {
  Commit,
  HistoryLine,
  JournalEntry,
  LeasedTask,
  SubmittedOperation,
  Task,
} from '../core/tasks/task.ts';
import { type CommitMessage, commitBytesMax, entryBytesMax, type LeasedTaskMessage } from './messages.ts';

const entryBounds: JsonBounds = { depthMax: bodyLevelsMax, valuesMax: bodyValuesMax };

/** A leased task as an agent is told of it: what earlier runs left is no matter of it. */
export function toLeasedTaskMessage(
  { task, lease: { fence, sequence } }: Pick<LeasedTask, 'task' | 'lease'>,
  operations: readonly SubmittedOperation[],
): LeasedTaskMessage {
  const prefix = getRunPrefix(task.run);
  const own = task.journal.filter(({ key }) => key.startsWith(prefix));
  return {
    lease: { fence, sequence },
    id: task.id,
    account: task.account,
    run: task.run,
    attempts: task.attempts,
    acceptedAtMs: task.acceptedAtMs,
    caller: { ...task.caller },
    waitMs: task.inbox?.waitMs ?? 0,
    operations: JSON.stringify(operations),
    journal: own.map((entry) => JSON.stringify(entry)),
  };
}

/** The task of such a message, as far as running it goes. */
export function fromLeasedTaskMessage(message: LeasedTaskMessage, ownerId: string): Task {
  const { id, account, run, attempts, acceptedAtMs, caller, waitMs, journal } = message;
  return {
    ...{ id, account, run, attempts, acceptedAtMs, caller, ownerId },
    accounts: [account],
    inbox: { account, waitMs },
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

/** A commit as it is sent. What the bus was told of is no matter of an agent. */
export function toCommitMessage(lease: CommitMessage['lease'], { next, entries }: Commit): CommitMessage {
  return { lease, next, entries: entries.map((entry) => JSON.stringify(entry)) };
}

/**
 * The entries of a commit that came from outside.
 *
 * @param run of the task: keys of its entries begin with it
 * @throws InvalidInputError naming the entry, and what was expected
 */
export function parseEntries({ entries }: CommitMessage, run: number): JournalEntry[] {
  const sizes = entries.map((text) => Buffer.byteLength(text));
  const large = sizes.findIndex((size) => size > entryBytesMax);
  if (large >= 0) throw new InvalidInputError(`entries[${large}]: expected ${entryBytesMax} bytes at most`);
  if (sizes.reduce((sum, size) => sum + size, 0) > commitBytesMax) {
    throw new InvalidInputError(`entries: expected ${commitBytesMax} bytes at most, all together`);
  }
  return entries.map((text, index) =>
    parseEntry(text, { at: `entries[${index}]`, prefix: getRunPrefix(run) }),
  );
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
