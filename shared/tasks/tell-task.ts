import type { Clock } from '#core/clock.ts';
import { getErrorMessage } from '#core/errors.ts';
import { isJsonObject, type JsonValue } from '#core/json.ts';
import type { Logger } from '#core/logger.ts';
import type { BusEvent, EventBus } from '#platform/ports/event-bus.ts';
import { isFinished, type JournalEntry, type Task } from './task.ts';
import { eventOperationsMax, toEndEvent, toTaskEvent } from './task-events.ts';

/** What telling needs. */
export interface TellingSystem {
  readonly bus: EventBus;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Milliseconds for which events of a running task are held back, to be published together. */
const eventDelayMs = 1_000;

/** Key of the entry that tells of a task's end from outside. */
export const endedKey = 'ended';

/** The value of a task's first journal entry: what its event tells besides. */
export function toAcceptedValue(names: Iterable<string>): JsonValue {
  return { operations: [...new Set(names)].slice(0, eventOperationsMax) };
}

/** The last entry of a run that was ended from outside, with one line. */
export function toEndedEntry(
  state: 'FAILED' | 'FAILED_RETRYABLE',
  line: JournalEntry['lines'][number],
): JournalEntry {
  return { key: endedKey, lines: [line], value: { state } };
}

/**
 * Tells the bus of a task: of each entry of its journal, and of its end. What the bus has taken is counted in entries, and the count
 * is stored with the next commit (`Commit.told`). So whoever goes on with the task, after a death at whatever line, tells what may be
 * missing: each event comes at least once.
 */
export class TaskTeller {
  readonly #system: TellingSystem;
  readonly #task: Task;
  /** The event of each entry that was not told yet; undefined for one that has none. */
  readonly #pending: (BusEvent | undefined)[];
  #told: number;
  #publishedAt: number;
  #publishing: Promise<void> | undefined;

  /** Begins behind what is known to be told. */
  constructor(system: TellingSystem, task: Task) {
    this.#system = system;
    this.#task = task;
    this.#told = task.told;
    this.#publishedAt = system.clock.monotonic();
    this.#pending = this.#toEvents(task.journal.slice(task.told), task.told);
  }

  /** Entries of the journal, from its beginning, whose events the bus has taken. */
  get told(): number {
    return this.#told;
  }

  /** Tells of entries that are stored: together with others, at most once a second, and nobody waits for it. */
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

  /** Tells what is left. @throws when the bus does not take it. */
  async flush(): Promise<void> {
    await this.#publishing;
    await this.#publish();
  }

  /** Tells what is left of a task that has ended, and its end. @throws when the bus does not take it. */
  async flushEnd(state: Task['state']): Promise<void> {
    await this.#publishing;
    // Of an end from outside tells its entry: the task may have been submitted anew before that was told.
    const isTold = this.#task.journal.at(-1)?.key === endedKey;
    const end = toEndEvent({ ...this.#task, state }, this.#now());
    await this.#publish(isTold ? [] : [end]);
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

  /** What is told late of a task that has ended was so at its end. */
  #now(): number {
    return isFinished(this.#task) ? this.#task.changedAtMs : this.#system.clock.now();
  }

  #complain(error: unknown): void {
    this.#system.log.warn('events of a running task could not be published', {
      cause: getErrorMessage(error),
    });
  }
}

function toEntryEvent(
  task: Task,
  { key, value }: JournalEntry,
  { index, atMs }: { index: number; atMs: number },
): BusEvent | undefined {
  const more = isJsonObject(value) ? value : {};
  if (index === 0) return toTaskEvent(task, { type: 'TaskAccepted', atMs: task.acceptedAtMs, more });
  if (key === endedKey) {
    return toEndEvent(
      { ...task, state: more['state'] === 'FAILED_RETRYABLE' ? more['state'] : 'FAILED' },
      atMs,
    );
  }
  // Keys of steps begin with the number of their run. A wait completes nothing.
  return /^\d/.test(key) && !/^\d+\/op\/\d+\/wait\//.test(key)
    ? toTaskEvent(task, { type: 'TaskStepCompleted', atMs, more: { step: key } })
    : undefined;
}
