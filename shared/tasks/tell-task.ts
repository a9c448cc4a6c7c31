import type { Clock } from '#core/clock.ts';
import { getErrorMessage } from '#core/errors.ts';
import { asJsonArray, isJsonObject, type JsonValue } from '#core/json.ts';
import type { Logger } from '#core/logger.ts';
import type { BusEvent, EventBus } from '#platform/ports/event-bus.ts';
import type { Asked } from './list-tasks.ts';
import { isDryRunName } from './operation.ts';
import { isFinished, type JournalEntry, type Task } from './task.ts';
import { eventOperationsMax, toEndEvent, toTaskEvent } from './task-events.ts';
import { isWaitKey } from './wait.ts';

interface TellingSystem {
  readonly bus: EventBus;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Milliseconds for which events of a running task are held back, to be published together. */
const eventDelayMs = 1_000;

/** Key of the entry of a task's end from outside. */
export const endedKey = 'ended';

/** The value of a task's first journal entry: further members of its event. At most 20 of each. */
export function toAcceptedValue(asked: Asked): JsonValue {
  const cut = (names: readonly string[]): string[] => [...new Set(names)].slice(0, eventOperationsMax);
  const { operations, applications, objects } = asked;
  return { operations: cut(operations), applications: cut(applications), objects: cut(objects) };
}

/** The last entry of a run that was ended from outside, with one line. */
export function toEndedEntry(
  state: 'FAILED' | 'FAILED_RETRYABLE',
  line: JournalEntry['lines'][number],
): JournalEntry {
  return { key: endedKey, lines: [line], value: { state } };
}

/**
 * Publishes the events of a task: of each entry of its journal, and of its end. It counts the entries whose events the bus has taken, and
 * the next commit stores the count (`Commit.told`). So the next worker, wherever this one died, publishes what may be missing: each event
 * comes at least once.
 */
export class TaskTeller {
  readonly #system: TellingSystem;
  readonly #task: Task;
  /** The event of each entry that was not published yet; undefined for one without an event. */
  readonly #pending: (BusEvent | undefined)[];
  #told: number;
  #publishedAt: number;
  #publishing: Promise<void> | undefined;

  /** Begins after the entries whose events were surely published. */
  constructor(system: TellingSystem, task: Task) {
    this.#system = system;
    this.#task = task;
    this.#told = task.told;
    this.#publishedAt = system.clock.monotonic();
    this.#pending = this.#toEvents(task.journal.slice(task.told), task.told);
  }

  /** Number of the journal's first entries whose events the bus has taken. */
  get told(): number {
    return this.#told;
  }

  /** Publishes events of stored entries: together with others, at most once a second, and without anything waiting for it. */
  add(entries: readonly JournalEntry[]): void {
    this.#pending.push(...this.#toEvents(entries, this.#told + this.#pending.length));
    if (this.#publishing !== undefined) return;
    if (this.#system.clock.monotonic() - this.#publishedAt < eventDelayMs) return;
    this.#publishing = this.#publish()
      .catch((error) => this.#complain(error))
      .finally(() => {
        this.#publishing = undefined;
      });
  }

  /** Publishes the rest. @throws when the bus does not take it. */
  async flush(): Promise<void> {
    await this.#publishing;
    await this.#publish();
  }

  /** Publishes the rest for a finished task, and its end. @throws when the bus does not take it. */
  async flushEnd(state: Task['state']): Promise<void> {
    await this.#publishing;
    // The entry of an end from outside has the event: the task may have been submitted again before it was published.
    const isTold = this.#task.journal.at(-1)?.key === endedKey;
    const end = toEndEvent({ ...this.#task, state }, this.#now());
    await this.#publish(isTold || isDryRun(this.#task) ? [] : [end]);
  }

  async #publish(further: readonly BusEvent[] = []): Promise<void> {
    const batch = [...this.#pending];
    this.#publishedAt = this.#system.clock.monotonic();
    const events = [...batch.filter((event) => event !== undefined), ...further];
    if (events.length > 0) await this.#system.bus.publish(events);
    this.#told += batch.length;
    this.#pending.splice(0, batch.length);
  }

  #toEvents(entries: readonly JournalEntry[], first: number): (BusEvent | undefined)[] {
    const atMs = this.#now();
    return entries.map((entry, index) => toEntryEvent(this.#task, entry, { index: first + index, atMs }));
  }

  /** The time of a late event of a finished task is that of its end. */
  #now(): number {
    return isFinished(this.#task) ? this.#task.changedAtMs : this.#system.clock.now();
  }

  #complain(error: unknown): void {
    this.#system.log.warn('events of a running task could not be published', {
      cause: getErrorMessage(error),
    });
  }
}

/** Whether a task only shows what its operations would change: the bus hears nothing of it. */
function isDryRun({ journal }: Task): boolean {
  const [accepted] = journal;
  const names = isJsonObject(accepted?.value) ? asJsonArray(accepted.value['operations']) : [];
  return names.length > 0 && names.every((name) => isDryRunName(String(name)));
}

function toEntryEvent(
  task: Task,
  { key, value }: JournalEntry,
  { index, atMs }: { index: number; atMs: number },
): BusEvent | undefined {
  if (isDryRun(task)) return undefined;
  const more = isJsonObject(value) ? value : {};
  if (index === 0) return toTaskEvent(task, { type: 'TaskAccepted', atMs: task.acceptedAtMs, more });
  if (key === endedKey) {
    return toEndEvent(
      { ...task, state: more['state'] === 'FAILED_RETRYABLE' ? more['state'] : 'FAILED' },
      atMs,
    );
  }
  // Keys of steps begin with the number of their run. A wait completes nothing.
  return /^\d/.test(key) && !isWaitKey(key)
    ? toTaskEvent(task, { type: 'TaskStepCompleted', atMs, more: { step: key } })
    : undefined;
}
