import { monitorEventLoopDelay } from 'node:perf_hooks';

/** Milliseconds over which the delay is measured. */
const windowMs = 1_000;

/** Milliseconds between two looks at the clock: an idle process is not to wake up more often. */
const resolutionMs = 50;

/** Begins to measure by how much the event loop of this process is late, until disposed. It keeps no process alive. */
export function watchLoopDelay() {
  const intervals = monitorEventLoopDelay({ resolution: resolutionMs });
  intervals.enable();
  let last = 0;
  let ms = 0;
  const timer = setInterval(() => {
    const before = last;
    last = Math.max(0, intervals.percentile(50) / 1e6 - resolutionMs);
    ms = Math.min(before, last);
    intervals.reset();
  }, windowMs).unref();
  return {
    /** The median of the last second that is over, or of the one before where that was less, milliseconds: one long pause does not count. */
    get ms() {
      return ms;
    },
    [Symbol.dispose]() {
      clearInterval(timer);
      intervals.disable();
    },
  };
}
