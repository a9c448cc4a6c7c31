import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Milliseconds after the last large request at which memory is given back. */
const quietMs = 2_000;

/** Milliseconds between two looks at what the process takes … */
const watchMs = 2_000;
/** … and, where that did not help, up to this long: what is in use stays. */
const watchMaxMs = 30_000;

/** Bytes by which it may have grown beyond what it began with, when nobody calls … */
const idleGrowthBytes = 96 * 2 ** 20;
/** … and while requests come: a collection makes V8 start small again, which made answers a tenth slower. */
const busyGrowthBytes = 256 * 2 ** 20;

/**
 * Has V8 give memory back a while after large requests, and where the process has grown, as it does by what streams through it: by
 * itself V8 keeps what was taken for as long as there is little to do. That pauses the process for a tenth of a second or so, once.
 */
export class GarbageCollection implements Disposable {
  readonly #timer: NodeJS.Timeout;
  readonly #floorBytes = process.memoryUsage.rss();
  #watch: NodeJS.Timeout;
  #watchMs = watchMs;
  #collect: (() => void) | undefined;
  #isDue = false;
  #isBusy = false;

  constructor() {
    this.#timer = setTimeout(() => this.#runIfDue(), quietMs).unref();
    this.#watch = this.#watchLater();
  }

  /** Notes that a request came. */
  noteRequest(): void {
    this.#isBusy = true;
  }

  /** Collects when nothing large has come for a while. */
  schedule(): void {
    this.#isDue = true;
    this.#timer.refresh();
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#watch);
  }

  #runIfDue(): void {
    if (this.#isDue) this.#run();
  }

  #watchLater(): NodeJS.Timeout {
    return setTimeout(() => {
      this.#runIfGrown();
      this.#watch = this.#watchLater();
    }, this.#watchMs).unref();
  }

  #runIfGrown(): void {
    const growthBytes = this.#isBusy ? busyGrowthBytes : idleGrowthBytes;
    this.#isBusy = false;
    const before = process.memoryUsage.rss() - this.#floorBytes;
    if (before > growthBytes) this.#run();
    const after = process.memoryUsage.rss() - this.#floorBytes;
    this.#watchMs = after > growthBytes ? Math.min(this.#watchMs * 1.5, watchMaxMs) : watchMs;
  }

  #run(): void {
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
