import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Milliseconds after the last large request at which memory is given back. */
const quietMs = 2_000;

/**
 * Has V8 give memory back a while after large requests: by itself it keeps what they took for as long as the process has little to
 * do. That pauses the process for a tenth of a second or so, once.
 */
export class GarbageCollection implements Disposable {
  readonly #timer: NodeJS.Timeout;
  #collect: (() => void) | undefined;
  #isDue = false;

  constructor() {
    this.#timer = setTimeout(() => this.#run(), quietMs).unref();
  }

  /** Collects when nothing large has come for a while. */
  schedule(): void {
    this.#isDue = true;
    this.#timer.refresh();
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }

  #run(): void {
    if (!this.#isDue) return;
    this.#isDue = false;
    this.#collect ??= loadCollector();
    this.#collect();
  }
}

/** The function that `--expose-gc` adds to contexts that are made later. */
function loadCollector(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}
