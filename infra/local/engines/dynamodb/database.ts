import { EventEmitter } from 'node:events';
import { closeSync, existsSync, fsyncSync, openSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { Logger } from '#core/logger.ts';
import type { Table } from '#platform/aws/tables.ts';
import { AwsError } from '../engine.ts';
import { Checkpoints } from './checkpoints.ts';
import { describeObstacle, findDiskReason, hasFreeSpace, toReason } from './disk.ts';
import { LogSync, type Waiter } from './log-sync.ts';
import { TableRows } from './table-rows.ts';

/** Milliseconds of a sync from which on it is logged. */
export const slowSyncMs = 50;

/** Milliseconds between two lines of that. */
const slowLogIntervalMs = 60_000;

/** Milliseconds for which calls of one turn of the event loop are answered at once: others want a turn, too. */
const turnMs = 5;

/** Milliseconds between two looks whether the disk can be written again. */
const retryMs = 2_000;

/** Events of a database: `full` with what the system said, and `space` when it can be written again. */
interface StorageEvents {
  full: [reason: string];
  space: [];
}

/** How to open a database. */
export interface DatabaseOptions {
  /** Made when missing, with the tables that are. One process at a time. */
  readonly file: string;
  readonly log: Logger;
  /** Bytes of its log that a checkpoint does not wait for a quiet moment for. Default: 64 MiB. */
  readonly logBytesMax?: number | undefined;
}

/** The tables cannot be written, or read: DynamoDB's error when it is ill. The message says why. */
export class StorageError extends AwsError {
  constructor(message: string) {
    super('InternalServerError', message, 500);
  }
}

/**
 * Tables in one file of SQLite, in its mode WAL: what was answered survives a power cut, but for copies of what can be read again.
 *
 * Calls of one turn of the event loop share a transaction, which is committed when the turn ends (`setImmediate`) and then synced to the
 * disk while the loop goes on. No call is answered before that which wrote something, or may have seen what another one wrote. When the
 * commit fails all of them fail, and nothing of theirs is there. Writes to tables of copies wait for the commit alone: the log keeps the
 * order of all writes, so that a power cut takes the last of them and nothing in between.
 */
export class Database extends EventEmitter<StorageEvents> implements AsyncDisposable {
  readonly #file: string;
  readonly #log: Logger;
  readonly #sqlite: DatabaseSync;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  readonly #checkpoints: Checkpoints;
  readonly #sync: LogSync;
  #turn: Turn | undefined;
  #reason: string | undefined;
  #retry: NodeJS.Timeout | undefined;
  #isClosed = false;
  readonly #slow = { syncs: 0, longestMs: 0, nextLogMs: 0 };

  /** @throws Error that says what to do where the file cannot be opened */
  constructor({ file, log, logBytesMax }: DatabaseOptions) {
    super();
    this.#file = file;
    this.#log = log;
    const isNew = !existsSync(file);
    try {
      this.#sqlite = openDatabase(file);
      if (isNew) syncFolder(path.dirname(file));
    } catch (error) {
      throw toOpenError(file, error);
    }
    this.#begin = this.#sqlite.prepare('BEGIN IMMEDIATE');
    this.#commit = this.#sqlite.prepare('COMMIT');
    this.#checkpoints = new Checkpoints({ file, database: this.#sqlite, log, logBytesMax });
    this.#sync = new LogSync({
      file: `${file}-wal`,
      onSynced: (tookMs) => this.#noteSync(tookMs),
      onFailed: (error) => this.#giveUp(error),
    });
  }

  /** Why nothing can be written, in the words of the system; undefined as long as it can be. */
  get reason(): string | undefined {
    return this.#reason;
  }

  /** The rows of a table, which is made unless it is there. @throws Error as the constructor does */
  openTable(table: Table): TableRows {
    try {
      return new TableRows(this.#sqlite, { table, beginWrite: () => this.#beginWrite(table) });
    } catch (error) {
      throw toOpenError(this.#file, error);
    }
  }

  /**
   * Does something with the tables, now, and answers what it made of them once that is durable.
   *
   * @throws what the work throws; StorageError when the disk cannot be read or written
   */
  answer<T>(work: () => T): Promise<T> {
    if (this.#isClosed) return Promise.reject(new StorageError('The tables are being closed'));
    const turn = this.#getTurn();
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    let settle: () => void;
    try {
      if (turn.failure !== undefined) throw turn.failure;
      const result = work();
      settle = () => resolve(result);
    } catch (error) {
      const known = error instanceof AwsError ? error : this.#fail(turn, error);
      settle = () => reject(known);
    }
    const isOver = performance.now() - turn.beganMs > turnMs;
    if (turn.hasWritten || isOver || this.#sync.isPending) turn.waiting.push({ settle, reject });
    else settle();
    return promise;
  }

  /** Commits and syncs what is under way, and closes the file. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#retry);
    this.#endTurn();
    await this.#sync[Symbol.asyncDispose]();
    this.#checkpoints[Symbol.dispose]();
    this.#sqlite.close();
  }

  /** @throws StorageError when nothing can be written */
  #beginWrite({ isCopy = false }: Table): void {
    if (this.#reason !== undefined) throw new StorageError(toMessage(this.#reason));
    const turn = this.#getTurn();
    if (!isCopy) turn.mustSync = true;
    if (turn.hasWritten) return;
    turn.hasWritten = true;
    this.#begin.run();
  }

  #getTurn(): Turn {
    if (this.#turn !== undefined) return this.#turn;
    const turn: Turn = {
      beganMs: performance.now(),
      hasWritten: false,
      mustSync: false,
      failure: undefined,
      waiting: [],
    };
    this.#turn = turn;
    setImmediate(() => {
      if (this.#turn === turn) this.#endTurn();
    });
    return turn;
  }

  #endTurn(): void {
    const turn = this.#turn;
    if (turn === undefined) return;
    if (turn.hasWritten && turn.failure === undefined) this.#commitTurn(turn);
    this.#turn = undefined;
    const { failure, mustSync, waiting } = turn;
    if (failure !== undefined) for (const { reject } of waiting) reject(failure);
    else if (mustSync) this.#sync.settleWritten(waiting);
    else this.#sync.settleRead(waiting);
  }

  #commitTurn(turn: Turn): void {
    try {
      this.#commit.run();
      this.#checkpoints.noteWrite();
    } catch (error) {
      this.#fail(turn, error);
    }
  }

  /** What was committed may be lost, or not: until the next start nothing is written, and nothing of it is shown. */
  #giveUp(error: Error): Error {
    const reason = `not synced: ${toReason(error)}`;
    clearTimeout(this.#retry);
    this.#reason = reason;
    this.emit('full', reason);
    return new StorageError(toMessage(reason));
  }

  /** Undoes what a turn has done. @returns what its calls fail with */
  #fail(turn: Turn, error: unknown): Error {
    if (!isSqliteError(error)) return toDefect(error);
    const reason = findDiskReason(path.dirname(this.#file)) ?? error.message;
    turn.failure = new StorageError(toMessage(reason));
    if (this.#sqlite.isTransaction) this.#sqlite.exec('ROLLBACK');
    if (turn.hasWritten) this.#refuse(reason);
    else this.#log.error('the tables cannot be read', { file: this.#file, reason });
    return turn.failure;
  }

  #refuse(reason: string): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.emit('full', reason);
    this.#armRetry();
  }

  #armRetry(): void {
    this.#retry = setTimeout(() => void this.#tryAgain(), retryMs).unref();
  }

  async #tryAgain(): Promise<void> {
    const isFree = await hasFreeSpace(path.dirname(this.#file));
    if (this.#isClosed) return;
    if (!isFree) return this.#armRetry();
    this.#reason = undefined;
    this.emit('space');
  }

  #noteSync(tookMs: number): void {
    if (tookMs <= slowSyncMs) return;
    const slow = this.#slow;
    slow.syncs += 1;
    slow.longestMs = Math.max(slow.longestMs, tookMs);
    if (performance.now() < slow.nextLogMs) return;
    const fields = { syncs: slow.syncs, longestMs: Math.round(slow.longestMs) };
    this.#log.warn('the disk of the data directory is slow: what is stored waits for it', fields);
    Object.assign(slow, { syncs: 0, longestMs: 0, nextLogMs: performance.now() + slowLogIntervalMs });
  }
}

/** What is done in one turn of the event loop. */
interface Turn {
  readonly beganMs: number;
  /** Whether something was written, or was to be. */
  hasWritten: boolean;
  /** Whether some of that is no copy. */
  mustSync: boolean;
  /** Why all of it fails. */
  failure: Error | undefined;
  readonly waiting: Waiter[];
}

function openDatabase(file: string): DatabaseSync {
  const database = new DatabaseSync(file);
  try {
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0');
    const settings = ['journal_mode', 'synchronous'].map((name) =>
      Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {}).join(),
    );
    // 1 is NORMAL: SQLite syncs around checkpoints, and commits are synced here. A file system without shared memory leaves another mode.
    if (settings.join() !== 'wal,1')
      throw new Error(`this file system does not let SQLite be durable (${settings})`);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** A new file is there after a power cut only if its folder is on the disk, too. */
function syncFolder(dir: string): void {
  const handle = openSync(dir, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

function isSqliteError(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && error.code === 'ERR_SQLITE_ERROR';
}

function toDefect(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

function toMessage(reason: string): string {
  return `The tables cannot be used: ${reason}`;
}

function toOpenError(file: string, error: unknown): Error {
  const reason = findDiskReason(path.dirname(file)) ?? toDefect(error).message;
  const { advice } = describeObstacle(reason);
  return new Error(
    `The tables in ${file} cannot be opened: ${reason}; ${advice}, or start with another --data-dir`,
    { cause: error },
  );
}
