import { statSync } from 'node:fs';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Logger } from '#core/logger.ts';

/** Milliseconds between two checkpoints at least. */
const intervalMs = 1_000;

/** Milliseconds without a write after which nobody is held up by one. */
const quietMs = 50;

/** Bytes of the log from which on it does not wait for a quiet moment. */
export const logBytesMaxDefault = 64 << 20;

/** What checkpoints are made of. */
export interface CheckpointOptions {
  /** The database; its log is beside it. */
  readonly file: string;
  readonly database: DatabaseSync;
  readonly log: Logger;
  /** Bytes of the log from which on one does not wait for a quiet moment. Default: 64 MiB. */
  readonly logBytesMax?: number | undefined;
}

/**
 * Brings what stands in the log of a database into its file: when nothing was written for a moment, or when the log is large, and at
 * most each second. SQLite would do so in the middle of a commit, for which everybody waits.
 */
export class Checkpoints implements Disposable {
  readonly #database: DatabaseSync;
  readonly #logFile: string;
  readonly #log: Logger;
  readonly #logBytesMax: number;
  readonly #checkpoint: StatementSync;
  #timer: NodeJS.Timeout | undefined;
  #writtenMs = 0;
  #waitsForCommit = false;

  constructor({ file, database, log, logBytesMax = logBytesMaxDefault }: CheckpointOptions) {
    this.#database = database;
    this.#logFile = `${file}-wal`;
    this.#logBytesMax = logBytesMax;
    this.#log = log;
    // What was longer is cut off, so that a log that is longer than that again can be told from one that once was.
    database.exec(`PRAGMA journal_size_limit = ${logBytesMax}`);
    this.#checkpoint = database.prepare('PRAGMA wal_checkpoint(PASSIVE)');
  }

  /** Is called after each commit. */
  noteWrite(): void {
    this.#writtenMs = performance.now();
    if (this.#waitsForCommit) {
      this.#waitsForCommit = false;
      this.#look();
    }
    this.#timer ??= setTimeout(() => this.#look(), intervalMs).unref();
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }

  #look(): void {
    // Within a transaction SQLite refuses it.
    if (this.#database.isTransaction) {
      this.#waitsForCommit = true;
      return;
    }
    const quietSinceMs = performance.now() - this.#writtenMs;
    if (quietSinceMs < quietMs && measure(this.#logFile) < this.#logBytesMax) {
      this.#timer = setTimeout(() => this.#look(), quietMs).unref();
      return;
    }
    this.#timer = undefined;
    try {
      this.#checkpoint.get();
    } catch (error) {
      // Everything is in the log, and the next one finds it there.
      this.#log.warn('the log of the tables cannot be brought into their file', { error });
      this.#timer = setTimeout(() => this.#look(), intervalMs).unref();
    }
  }
}

function measure(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
