import { readFileSync } from 'node:fs';

/**
 * Preloaded into a process (`node --import`): its wall clock is off by as many milliseconds as the file `LAB_CLOCK_FILE` says, as that of a
 * machine is which nobody set. They are read at the start, and again with each SIGUSR2, as somebody sets the clock of a machine; standard error
 * tells of that. The monotonic clock goes on as it does. Without a file no clock is off.
 */
const { LAB_CLOCK_FILE: file } = process.env;
let offsetMs = readOffset();
const trueNow = Date.now;
const now = (): number => trueNow() + offsetMs;

globalThis.Date = new Proxy(Date, {
  construct: (target, args, newTarget) =>
    Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
  get: (target, name, receiver) => (name === 'now' ? now : Reflect.get(target, name, receiver)),
});
Object.defineProperty(performance, 'timeOrigin', { value: performance.timeOrigin + offsetMs });

if (file !== undefined) {
  process.on('SIGUSR2', () => {
    offsetMs = readOffset();
    process.stderr.write(`the clock is off by ${offsetMs} ms\n`);
  });
}

function readOffset(): number {
  return file === undefined ? 0 : Number(readFileSync(file, 'utf8'));
}
