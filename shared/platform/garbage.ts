import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Milliseconds after the start, and after the last large request, at which memory is given back. */
const quietMs = 2_000;

/** Milliseconds between two looks at what the process takes … */
const watchMs = 2_000;
/** … and, where that did not help, up to this long: what is in use stays. */
const watchMaxMs = 30_000;

/** Bytes by which it may have grown beyond what it took after its start, when nobody calls … */
const idleGrowthBytes = 24 * 2 ** 20;
/** … and while requests come: a collection makes V8 start small again, which made answers a tenth slower. */
const busyGrowthBytes = 128 * 2 ** 20;

/**
 * Has V8 give memory back a while after large requests, and where the process has grown, as it does by what streams through it: by
 * itself V8 keeps what was taken for as long as there is little to do. That pauses the process for a tenth of a second or so, once.
 *
 * The first time is soon after the start: V8 takes what is in use after a collection for the measure of when the next one is due, and
 * lets the heap grow to hundreds of MiB before the first.
 */
export class GarbageCollection implements Disposable {
  readonly #timer: NodeJS.Timeout;
  /** What the process took after its first collection. */
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

  /** Notes that a request came. */
  countRequest(): void {
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

/** What `--expose-gc` adds to contexts that are made later. */
type Collector = (options: { readonly type: 'major'; readonly flavor: 'last-resort' }) => void;

/** Collects, and gives pages back to the system that V8 would otherwise keep for what may come, for many seconds. */
function loadCollector(): () => void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as Collector;
  return () => collect({ type: 'major', flavor: 'last-resort' });
}
