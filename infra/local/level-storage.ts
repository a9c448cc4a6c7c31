import { EventEmitter } from 'node:events';
import { open, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { getErrorMessage } from '../../shared/core/errors.ts';

/** Milliseconds between two looks whether there is room again. */
const retryMs = 2_000;

/** Bytes that must find room before the tables are opened again: LevelDB then writes down what was only in its journal, up to 4 MiB. */
const freeSpaceBytes = 8 << 20;

/** As far as LevelDB is looked at here. */
interface Database {
  readonly location: string;
  open(): Promise<void>;
}

/** LevelDB's ways of writing, of which dynalite uses these. */
const writes = ['_put', '_del', '_batch'] as const;

type Work = (...args: unknown[]) => Promise<unknown>;

/** The prototype of LevelDB's class: each method is ours once {@link watchStorage} was called. */
type Prototype = { [name in (typeof writes)[number] | '_open' | '_get' | 'close']: Work } & {
  _getSync(...args: unknown[]): unknown;
};

const storages = new Map<string, LevelStorage>();
let isWatching = false;

/** How to keep a storage going. */
export interface LevelStorageOptions {
  /** Folder of the tables. */
  readonly dir: string;
  /** Waits until no call uses the tables, for some seconds at most. @returns whether that is so */
  readonly settle: () => Promise<boolean>;
}

/** Events of a storage: `full` with what the system said, and `room` when it can be written again. */
interface StorageEvents {
  full: [reason: string];
  space: [];
}

/**
 * The disk under the tables. A write that fails, as on a full disk, would end the process, for dynalite throws what it does not
 * know: here it is an answer as DynamoDB gives it when it is ill.
 *
 * After such a failure LevelDB's journal may end in half a record, behind which nothing that is written would be found again. So
 * all is refused until there is room; then the tables are opened anew, which drops that half. What was answered is in front of it.
 */
export class LevelStorage extends EventEmitter<StorageEvents> implements AsyncDisposable {
  readonly #options: LevelStorageOptions;
  readonly #opened = Promise.withResolvers<void>();
  readonly #stopping = new AbortController();
  #recovery: Promise<void> = Promise.resolve();
  #reason: string | undefined;
  #isOpen = true;

  constructor(options: LevelStorageOptions) {
    super();
    this.#options = options;
    this.#opened.promise.catch(() => undefined);
  }

  /** Why nothing can be written, in the words of the system; undefined as long as it can be. */
  get reason(): string | undefined {
    return this.#reason;
  }

  /** Whether the tables can be read: not for the moments in which they are opened again. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Waits until the tables are open. @throws Error that says what to do where they cannot be opened */
  async waitUntilOpen(): Promise<void> {
    await this.#opened.promise;
  }

  /** Opens the database, as LevelDB asks. */
  async open(work: () => Promise<unknown>): Promise<unknown> {
    try {
      const result = await work();
      this.#opened.resolve();
      return result;
    } catch (error) {
      this.#opened.reject(toOpenError(this.#options.dir, error));
      throw error;
    }
  }

  /** Writes, as LevelDB asks. @throws Error that dynalite answers as DynamoDB's `InternalServerError` */
  async write(database: Database, work: () => Promise<unknown>): Promise<unknown> {
    if (this.#reason !== undefined) throw new StorageError(this.#reason);
    try {
      return await work();
    } catch (error) {
      const reason = toReason(error);
      this.#refuse(database, reason);
      throw new StorageError(reason);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    storages.delete(this.#options.dir);
    this.#stopping.abort();
    await this.#recovery;
  }

  #refuse(database: Database, reason: string): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.emit('full', reason);
    this.#recovery = this.#recover(database);
  }

  async #recover(database: Database): Promise<void> {
    const { signal } = this.#stopping;
    while (this.#reason !== undefined) {
      await sleep(retryMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      if (await hasFreeSpace(this.#options.dir)) await this.#reopen(database);
    }
  }

  async #reopen(database: Database): Promise<void> {
    this.#isOpen = false;
    try {
      if (await this.#options.settle()) {
        // Not dynalite's own, after which it answers nothing any more.
        await levelPrototype().close.call(database);
        await database.open();
        this.#reason = undefined;
      }
      this.#isOpen = true;
    } catch {
      // There is not room enough, yet. What is closed cannot even be read.
    }
    if (this.#reason === undefined) this.emit('space');
  }
}

/** What cannot be written, as dynalite passes it on to its caller. */
class StorageError extends Error {
  override readonly name = 'StorageError';
  readonly statusCode = 500;
  readonly body: object;

  constructor(reason: string) {
    super(`The tables cannot be written: ${reason}`);
    this.body = {
      __type: 'com.amazonaws.dynamodb.v20120810#InternalServerError',
      message: this.message,
    };
  }
}

/** Watches the tables in a folder, from before dynalite opens them. One storage a folder at a time. */
export function watchStorage(options: LevelStorageOptions): LevelStorage {
  interceptLevelDb();
  const storage = new LevelStorage(options);
  storages.set(options.dir, storage);
  return storage;
}

/** dynalite keeps its database to itself; what it calls is the prototype's. */
function interceptLevelDb(): void {
  if (isWatching) return;
  isWatching = true;
  const prototype = levelPrototype();
  const { _open } = prototype;
  prototype._open = function (this: Database, ...args) {
    const work = () => _open.apply(this, args);
    return storages.get(this.location)?.open(work) ?? work();
  };
  // What is read by its key is mostly in memory: handing that to another thread takes ten times as long as reading it.
  prototype._get = async function (this: Database, ...args) {
    return prototype._getSync.apply(this, args);
  };
  readAhead(requireOfLevel('classic-level/iterator').Iterator.prototype);
  for (const name of writes) {
    const original = prototype[name];
    prototype[name] = function (this: Database, ...args) {
      const work = () => original.apply(this, args);
      return storages.get(this.location)?.write(this, work) ?? work();
    };
  }
}

/** LevelDB's iterators, as far as they are looked at here. */
interface IteratorPrototype {
  _next(): Promise<unknown>;
  _nextv(size: number, options: object): Promise<readonly unknown[]>;
}

/** Entries that are read at once; LevelDB stops earlier after 16 KiB. */
const entriesAhead = 100;

/** Has iterators read some entries at once from the start, where they would read one and then others: each time is a wait for another thread. */
function readAhead(prototype: IteratorPrototype): void {
  const read = new WeakMap<IteratorPrototype, { readonly entries: readonly unknown[]; at: number }>();
  prototype._next = async function () {
    let known = read.get(this);
    if (known === undefined || known.at === known.entries.length) {
      known = { entries: await this._nextv(entriesAhead, {}), at: 0 };
      read.set(this, known);
    }
    return known.entries[known.at++];
  };
}

function levelPrototype(): Prototype {
  return requireOfLevel('classic-level').ClassicLevel.prototype;
}

/** Loads a module that LevelDB uses, from where dynalite finds it. */
export function requireOfLevel(module: string) {
  const requireHere = createRequire(import.meta.url);
  const requireInDynalite = createRequire(requireHere.resolve('dynalite'));
  return createRequire(requireInDynalite.resolve('level'))(module);
}

/** LevelDB says `IO error: /path/000003.log: No space left on device`; the last part is the system's. */
function toReason(error: unknown): string {
  const message = getErrorMessage(error);
  return message.slice(message.lastIndexOf(': ') + 1).trim();
}

function toOpenError(dir: string, error: unknown): Error {
  const advice = 'make room on its disk, or start with another --data-dir';
  return new Error(`The tables in ${dir} cannot be opened: ${toReason(error)}; ${advice}`, { cause: error });
}

async function hasFreeSpace(dir: string): Promise<boolean> {
  const file = path.join(path.dirname(dir), 'room');
  try {
    await using handle = await open(file, 'w', 0o600);
    await handle.writeFile(Buffer.alloc(freeSpaceBytes));
    await handle.sync();
    return true;
  } catch {
    return false;
  } finally {
    await rm(file, { force: true }).catch(() => undefined);
  }
}
