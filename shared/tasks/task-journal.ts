import { FailedOperationError } from '#core/errors.ts';
import type { JsonObject, JsonValue } from '#core/json.ts';
import type { OperationOutput, OperationRun } from './operation.ts';
import type { Commit, HistoryLine, JournalEntry } from './task.ts';
import {
  inPlaceMs as inPlaceMsDefault,
  type Look,
  PutDownError,
  planLook,
  type StoredWait,
  type Wait,
  waitPrefix,
} from './wait.ts';

interface JournalOptions {
  /** Entries that earlier workers committed. */
  readonly committed: readonly JournalEntry[];
  /** Prefix of this run's keys: entries of earlier runs of the task are history only. */
  readonly prefix: string;
  /** Stores entries in one conditional update. @throws LeaseLostError */
  commit(commit: Commit): Promise<void>;
  /** Whether the task may be put down while it waits. Default: its worker waits. */
  readonly putsDown?: boolean;
}

/** Keys of an operation's own steps: before them it waits for its cluster and for credentials. */
const stepKey = new RegExp(`^op/\\d+/(?!${waitPrefix}(cluster$|credentials/))`);

/** Milliseconds of the first pause between two looks of a worker that waits itself. */
const firstPauseMs = 10;
const pauseGrowth = 1.5;
const maximumPauseMs = 1_000;

/**
 * The journal of one run of a task. Entries are held back until the next step is about to begin or the task ends, so that a task of one
 * step costs no write of its own. Nothing acts on an entry that is held back.
 */
export class TaskJournal {
  readonly #options: JournalOptions;
  readonly #values: Map<string, JournalEntry>;
  #pending: JournalEntry[] = [];
  #failure: unknown;
  #putDown: PutDownError | undefined;

  constructor(options: JournalOptions) {
    this.#options = options;
    this.#values = new Map(options.committed.map((entry) => [entry.key, entry]));
  }

  /** The entry that an earlier worker or step of this run left under this key. */
  find(key: string): JournalEntry | undefined {
    return this.#values.get(this.#options.prefix + key);
  }

  /** Number of steps and waits of all operations in this run: each used the account's credentials. */
  countSteps(): number {
    const { prefix } = this.#options;
    return this.#values
      .keys()
      .filter((key) => key.startsWith(prefix) && stepKey.test(key.slice(prefix.length)))
      .reduce((count) => count + 1, 0);
  }

  /** Whether there is an entry of this run below a prefix. */
  hasBelow(prefix: string): boolean {
    return this.#values.keys().some((key) => key.startsWith(this.#options.prefix + prefix));
  }

  /** The result objects of this run's first operations, but for failed ones, in order. @param count how many operations */
  listResults(count: number): readonly JsonObject[] {
    const keys = Array.from({ length: count }, (_, index) => toOperationKey(index));
    const done = keys.filter((key) => this.find(key)?.value === undefined);
    const entries = [...this.#values.values()];
    const texts = done.flatMap((key) => {
      const full = this.#options.prefix + key;
      const own = entries.filter((entry) => entry.key === full || entry.key.startsWith(`${full}/`));
      return own.flatMap(({ results = [] }) => results);
    });
    return texts.map((text) => JSON.parse(text));
  }

  /** Adds an entry; it is stored with the next commit. */
  add(entry: JournalEntry): void {
    const full = { ...entry, key: this.#options.prefix + entry.key };
    this.#values.set(full.key, full);
    this.#pending.push(full);
  }

  /** Stores what is held back, if anything, and renews the lease. @throws LeaseLostError */
  async flush(): Promise<void> {
    if (this.#pending.length > 0) await this.end('hold');
  }

  /** Stores what is held back together with the task's next state. @throws LeaseLostError */
  async end(next: Commit['next'], lookSeconds?: number): Promise<void> {
    this.throwIfBroken();
    const entries = this.#pending;
    this.#pending = [];
    try {
      await this.#options.commit({ entries, next, ...(lookSeconds !== undefined && { lookSeconds }) });
    } catch (error) {
      this.#failure = error;
      throw error;
    }
  }

  /** Throws what a commit threw: the run must end there, even if an operation caught it. The store knows nothing of what came since. */
  throwIfBroken(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Whether the task may be put down while it waits. */
  get putsDown(): boolean {
    return this.#options.putsDown === true;
  }

  /** Ends the run, and has the task looked at again in this many seconds: the least, where it waits for several things. */
  putDown(seconds: number): PutDownError {
    if (this.#putDown === undefined || seconds < this.#putDown.lookSeconds)
      this.#putDown = new PutDownError(seconds);
    return this.#putDown;
  }

  /** Throws what ends the run once the task is to be put down, before any other failure: the next worker meets those again. */
  throwIfPutDown(): void {
    if (this.#putDown !== undefined) throw this.#putDown;
  }
}

/** The part of a journal for one operation of the task. */
export class OperationJournal implements OperationRun {
  readonly signal: AbortSignal;
  readonly #journal: TaskJournal;
  readonly #index: number;
  readonly #prefix: string;
  readonly #phase: string;
  #lines: HistoryLine[] = [];
  #outputs: OperationOutput[] = [];
  #results: string[] = [];

  /** @param options.index of the operation in its request, from 0 */
  constructor(journal: TaskJournal, options: { index: number; phase: string; signal: AbortSignal }) {
    this.#journal = journal;
    this.#index = options.index;
    this.#prefix = `${toOperationKey(options.index)}/`;
    this.#phase = options.phase;
    this.signal = options.signal;
  }

  report(status: string, phase = this.#phase): void {
    this.#lines.push({ phase, status });
  }

  output(output: OperationOutput): void {
    this.#outputs.push(output);
  }

  addResult(result: object): void {
    this.#results.push(JSON.stringify(result));
  }

  listEarlierResults(): readonly JsonObject[] {
    return this.#journal.listResults(this.#index);
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

  /** Whether the task was put down earlier for a wait of this key. */
  isAwaited(key: string): boolean {
    return this.recall(waitPrefix + key) !== undefined;
  }

  async waitUntil<T>(
    key: string,
    look: (at: Look) => Promise<T | undefined>,
    { describe, deadlineMs, clock, inPlaceMs = inPlaceMsDefault, phase }: Wait,
  ): Promise<T> {
    const stored = this.recall(waitPrefix + key) as StoredWait | undefined;
    const endMs = stored?.deadlineMs ?? deadlineMs;
    const putDownAt = clock.monotonic() + (stored === undefined ? inPlaceMs : 0);
    let isFirst = stored === undefined;
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * pauseGrowth, maximumPauseMs)) {
      const isLate = clock.now() >= endMs;
      const found = await look({ isFirst, isLate });
      if (found !== undefined) return found;
      if (isLate) throw new FailedOperationError(`Waiting for ${describe()} took too long`);
      if (this.#journal.putsDown && clock.monotonic() >= putDownAt) break;
      isFirst = false;
      await clock.sleep(pauseMs, this.signal);
    }
    const nowMs = clock.now();
    const wait = stored ?? { sinceMs: nowMs, deadlineMs };
    if (stored === undefined) {
      this.report(`Waiting for ${describe()}`, phase);
      this.#journal.add({ key: this.#prefix + waitPrefix + key, value: wait, ...this.takeLines() });
    }
    throw this.#journal.putDown(planLook(wait, nowMs));
  }

  /** The lines, outputs and results since the last entry; the caller puts them into one. */
  takeLines(): Pick<JournalEntry, 'lines' | 'outputs' | 'results'> {
    const taken = {
      lines: this.#lines,
      ...(this.#outputs.length > 0 && { outputs: this.#outputs }),
      ...(this.#results.length > 0 && { results: this.#results }),
    };
    this.#forgetLines();
    return taken;
  }

  /** Drops lines that an earlier worker committed with the entry just found. */
  #forgetLines(): void {
    this.#lines = [];
    this.#outputs = [];
    this.#results = [];
  }
}

/** Key of the entry with which an operation of the task ends; those of its steps begin with it and a slash. */
export function toOperationKey(index: number): string {
  return `op/${index}`;
}
