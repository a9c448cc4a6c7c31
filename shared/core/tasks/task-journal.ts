import type { JsonValue } from '../json.ts';
import type { OperationOutput, OperationRun } from './operation.ts';
import type { Commit, HistoryLine, JournalEntry } from './task.ts';

/** What a journal needs of the task it belongs to. */
export interface JournalOptions {
  /** Entries that earlier workers committed. */
  readonly committed: readonly JournalEntry[];
  /** Prefix of this run's keys: entries of earlier runs of the task are history only. */
  readonly prefix: string;
  /** Stores entries in one conditional update. @throws LeaseLostError */
  commit(commit: Commit): Promise<void>;
}

/** What stands below the key of an operation's waits, beside its steps. */
export const waitsPrefix = 'waits/';

const stepKey = new RegExp(`^op/\\d+/(?!${waitsPrefix})`);

/**
 * The journal of one run of a task. Entries are held back until the next step is about to begin (or the task ends), so
 * that a task of one step costs no write of its own; what is held back was not acted upon by anyone.
 */
export class TaskJournal {
  readonly #options: JournalOptions;
  readonly #values: Map<string, JournalEntry>;
  #pending: JournalEntry[] = [];
  #last: JournalEntry | undefined;
  #failure: unknown;

  constructor(options: JournalOptions) {
    this.#options = options;
    this.#values = new Map(options.committed.map((entry) => [entry.key, entry]));
    this.#last = options.committed.at(-1);
  }

  /** The entry that an earlier worker or step left under this key of the current run. */
  find(key: string): JournalEntry | undefined {
    return this.#values.get(this.#options.prefix + key);
  }

  /** The same, unless another entry came after it. */
  findLast(key: string): JournalEntry | undefined {
    return this.#last?.key === this.#options.prefix + key ? this.#last : undefined;
  }

  /** Whether a step of any operation was done in the current run. */
  hasSteps(): boolean {
    const { prefix } = this.#options;
    return [...this.#values.keys()].some(
      (key) => key.startsWith(prefix) && stepKey.test(key.slice(prefix.length)),
    );
  }

  /** Adds an entry; it is stored with the next commit. */
  add(entry: JournalEntry): void {
    const full = { ...entry, key: this.#options.prefix + entry.key };
    this.#values.set(full.key, full);
    this.#last = full;
    this.#pending.push(full);
  }

  /** Stores what is held back, if anything, and keeps the lease. @throws LeaseLostError */
  async flush(): Promise<void> {
    if (this.#pending.length > 0) await this.end('hold');
  }

  /** Stores what is held back together with what becomes of the task. @throws LeaseLostError */
  async end(next: Commit['next']): Promise<void> {
    this.throwIfBroken();
    const entries = this.#pending;
    this.#pending = [];
    try {
      await this.#options.commit({ entries, next });
    } catch (error) {
      this.#failure = error;
      throw error;
    }
  }

  /**
   * Throws what a commit threw. What was done since is not known to the store, so the run must end there; an operation that
   * catches the error cannot hide it.
   */
  throwIfBroken(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }
}

/** The part of a journal that belongs to one operation of the task. */
export class OperationJournal implements OperationRun {
  readonly signal: AbortSignal;
  readonly #journal: TaskJournal;
  readonly #prefix: string;
  readonly #phase: string;
  #lines: HistoryLine[] = [];
  #outputs: OperationOutput[] = [];

  constructor(journal: TaskJournal, options: { prefix: string; phase: string; signal: AbortSignal }) {
    this.#journal = journal;
    this.#prefix = options.prefix;
    this.#phase = options.phase;
    this.signal = options.signal;
  }

  report(status: string, phase = this.#phase): void {
    this.#lines.push({ phase, status });
  }

  output(output: OperationOutput): void {
    this.#outputs.push(output);
  }

  recall(key: string): JsonValue | undefined {
    const known = this.#journal.find(this.#prefix + key);
    if (known !== undefined) this.#forgetLines();
    return known?.value;
  }

  async step<T extends JsonValue>(key: string, work: () => Promise<T>): Promise<T> {
    const known = this.#journal.find(this.#prefix + key);
    if (known !== undefined) {
      this.#forgetLines();
      return known.value as T;
    }
    this.signal.throwIfAborted();
    await this.#journal.flush();
    const value = await work();
    this.#journal.add({ key: this.#prefix + key, value, ...this.takeLines() });
    return value;
  }

  async decide<T extends JsonValue>(key: string, choose: () => Promise<T>): Promise<T> {
    const value = await this.step(key, choose);
    await this.#journal.flush();
    return value;
  }

  /** The lines and outputs reported since the last entry; the caller puts them into one. */
  takeLines(): Pick<JournalEntry, 'lines' | 'outputs'> {
    const taken = { lines: this.#lines, ...(this.#outputs.length > 0 && { outputs: this.#outputs }) };
    this.#forgetLines();
    return taken;
  }

  /** Drops lines that an earlier worker committed together with the entry just found. */
  #forgetLines(): void {
    this.#lines = [];
    this.#outputs = [];
  }
}
