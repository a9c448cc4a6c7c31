import { closeSync, fdatasync, openSync } from 'node:fs';

/** A call that waits to be answered. */
export interface Waiter {
  readonly settle: () => void;
  readonly reject: (error: Error) => void;
}

/** How a log is synced. */
export interface LogSyncOptions {
  /** The log; it exists. */
  readonly file: string;
  /** Is called with how long each sync took, in milliseconds. */
  onSynced(tookMs: number): void;
  /** Is called when the system cannot say that the log is on the disk. @returns the reason for those that wait */
  onFailed(error: Error): Error;
}

/**
 * Syncs a log while the event loop goes on, and answers calls once what was written before them is on the disk. One sync is for all calls
 * that came while the one before ran. After a sync that failed nothing can be known of what was written before it, so none is tried again:
 * https://wiki.postgresql.org/wiki/Fsync_Errors.
 */
export class LogSync implements AsyncDisposable {
  readonly #options: LogSyncOptions;
  #handle: number | undefined;
  /** Those that the sync under way is for. */
  #syncing: Waiter[] | undefined;
  /** Those that need one that begins later. */
  #next: Waiter[] = [];
  #failure: Error | undefined;
  #whenQuiet: PromiseWithResolvers<void> | undefined;

  constructor(options: LogSyncOptions) {
    this.#options = options;
  }

  /** Whether something was written that is not known to be on the disk. */
  get isPending(): boolean {
    return this.#syncing !== undefined || this.#failure !== undefined;
  }

  /** Answers calls that wrote. */
  settleWritten(waiters: readonly Waiter[]): void {
    this.#next.push(...waiters);
    this.#sync();
  }

  /** Answers calls that wrote nothing of their own, but may have seen what others wrote. */
  settleRead(waiters: readonly Waiter[]): void {
    if (this.#syncing === undefined) this.#settle(waiters);
    else (this.#next.length > 0 ? this.#next : this.#syncing).push(...waiters);
  }

  /** Ends when all are answered. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#syncing !== undefined) {
      this.#whenQuiet = Promise.withResolvers();
      await this.#whenQuiet.promise;
    }
    if (this.#handle !== undefined) closeSync(this.#handle);
    this.#handle = undefined;
  }

  #sync(): void {
    if (this.#syncing !== undefined) return;
    const waiters = this.#next;
    this.#next = [];
    if (this.#failure !== undefined) {
      this.#settle(waiters);
      return;
    }
    this.#syncing = waiters;
    const beganMs = performance.now();
    this.#start((error) => {
      if (error === null) this.#options.onSynced(performance.now() - beganMs);
      else this.#failure = this.#options.onFailed(error);
      this.#syncing = undefined;
      this.#settle(waiters);
      if (this.#next.length > 0) this.#sync();
      if (this.#syncing === undefined) this.#whenQuiet?.resolve();
    });
  }

  #start(done: (error: Error | null) => void): void {
    try {
      this.#handle ??= openSync(this.#options.file, 'r+');
    } catch (error) {
      setImmediate(done, error instanceof Error ? error : new Error(String(error)));
      return;
    }
    fdatasync(this.#handle, done);
  }

  #settle(waiters: readonly Waiter[]): void {
    const failure = this.#failure;
    for (const { settle, reject } of waiters) {
      if (failure === undefined) settle();
      else reject(failure);
    }
  }
}
