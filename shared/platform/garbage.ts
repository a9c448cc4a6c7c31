import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Milliseconds after the start, and after the last large request, at which memory is given back. */
const quietMs = 2_000;

/** Milliseconds between two checks of the process's memory … */
const watchMs = 2_000;
/** … and, where a collection did not help, up to this many: what is in use stays. */
const watchMaxMs = 30_000;

/** Bytes by which it may have grown since its start without requests … */
const idleGrowthBytes = 24 * 2 ** 20;
/** … and with requests: a collection makes V8 start with a small heap again, which made answers a tenth slower. */
const busyGrowthBytes = 128 * 2 ** 20;

/**
 * Has V8 return memory a while after large requests, and when the process has grown, as it does when data streams through it: V8 itself
 * keeps what it has while there is little to do. This pauses the process once for about a tenth of a second.
 *
 * The first collection is soon after the start: V8 decides by the memory in use after one when the next is due, and before the first lets
 * the heap grow to hundreds of MiB.
 */
export class GarbageCollection implements Disposable {
  readonly #timer: NodeJS.Timeout;
  /** The process's memory after its first collection. */
  #floorBytes: number | undefined;
  #watch: NodeJS.Timeout;
  #watchMs = watchMs;
  #collect: (() => void) | undefined;
  #isDue = true;
  #isBusy = false;

  constructor() {
    this.#timer = setTimeout(() => this.#runIfDue(), quietMs).unref();
    this.#watch = this.#watchLater();
  }

  /** Notes a request. */
  countRequest(): void {
    this.#isBusy = true;
  }

  /** Collects when no large request has come for a while. */
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
    if (this.#getGrowth() > growthBytes) this.#run();
    this.#watchMs = this.#getGrowth() > growthBytes ? Math.min(this.#watchMs * 1.5, watchMaxMs) : watchMs;
  }

  #getGrowth(): number {
    return this.#floorBytes === undefined ? 0 : process.memoryUsage.rss() - this.#floorBytes;
  }

  #run(): void {
    this.#isDue = false;
    this.#collect ??= loadCollector();
    this.#collect();
    this.#floorBytes ??= process.memoryUsage.rss();
  }
}

/** The function that `--expose-gc` adds to contexts created later. */
type Collector = (options: { readonly type: 'major'; readonly flavor: 'last-resort' }) => void;

/** Collects, and returns pages to the system that V8 would otherwise reserve for many seconds. */
function loadCollector(): () => void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as Collector;
  return () => collect({ type: 'major', flavor: 'last-resort' });
}
