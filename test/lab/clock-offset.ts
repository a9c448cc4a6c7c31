/**
 * Preloaded into a process of the laboratory (`node --import`): its wall clock is off by `LAB_CLOCK_OFFSET_MS` milliseconds, as that of
 * a machine is which nobody set. The monotonic clock goes on as it does.
 */
const offsetMs = Number(process.env['LAB_CLOCK_OFFSET_MS'] ?? 0);
const trueNow = Date.now;
const now = (): number => trueNow() + offsetMs;

globalThis.Date = new Proxy(Date, {
  construct: (target, args, newTarget) =>
    Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
  get: (target, name, receiver) => (name === 'now' ? now : Reflect.get(target, name, receiver)),
});

export {};
