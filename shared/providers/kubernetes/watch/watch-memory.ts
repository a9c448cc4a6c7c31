import { type AnswerLimitError, freeAnswerBytes } from '../api/answer-limits.ts';
import { type AnswerPlace, answerMemory } from '../transport/answer-memory.ts';

/**
 * The memory of a watch in `answerMemory`: it needs a place while it receives an event of the size of a large answer. Disposing of it gives
 * the place back.
 */
export class WatchMemory implements Disposable {
  readonly #account: string;
  readonly #callSignal: AbortSignal | undefined;
  readonly #evicted = new AbortController();
  /** Aborts when the place is taken away. */
  readonly signal: AbortSignal = this.#evicted.signal;
  /** Why the place was taken away. */
  error: AnswerLimitError | undefined;
  #place: AnswerPlace | undefined;
  #stopWaiting: (() => void) | undefined;

  /** @param callSignal the watch's signal: once it is aborted, it does not wait for a place */
  constructor(account: string, callSignal: AbortSignal | undefined) {
    this.#account = account;
    this.#callSignal = callSignal;
  }

  /**
   * Reserves memory for an event. Undefined if there is enough; else a promise that waits for it.
   *
   * @param pendingBytes bytes of an incomplete event
   */
  hold(pendingBytes: number): Promise<void> | undefined {
    if (pendingBytes <= freeAnswerBytes) {
      this[Symbol.dispose]();
      return undefined;
    }
    return this.#place === undefined ? this.#enter() : undefined;
  }

  [Symbol.dispose](): void {
    this.#stopWaiting?.();
    this.#stopWaiting = undefined;
    this.#place?.release();
    this.#place = undefined;
  }

  async #enter(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#stopWaiting = answerMemory.enter({
      account: this.#account,
      onPlaced: (place) => {
        this.#place = place;
        resolve();
      },
      onEvicted: (error) => {
        this.error = error;
        this.#evicted.abort(error);
      },
    });
    const onAbort = (): void => resolve();
    this.#callSignal?.addEventListener('abort', onAbort);
    if (!this.#callSignal?.aborted) await promise;
    this.#callSignal?.removeEventListener('abort', onAbort);
  }
}
