import fc from 'fast-check';
import { afterEach, expect, test, vi } from 'vitest';
import { Services } from '#platform/services/services.ts';
import { openStoreClock } from '#platform/services/store-clock.ts';
import { systemClock, wallClock } from '#platform/services/system.ts';

afterEach(() => vi.restoreAllMocks());

const hourMs = 3_600_000;

test('the time of the process goes on, however often the clock of the machine is set', () => {
  const trueNow = Date.now;
  let offsetMs = 0;
  vi.spyOn(Date, 'now').mockImplementation(() => trueNow() + offsetMs);
  const startMs = systemClock.now();
  fc.assert(
    fc.property(fc.integer({ min: -24 * hourMs, max: 24 * hourMs }), (setToMs) => {
      const beforeMs = systemClock.now();
      offsetMs = setToMs;
      expect(systemClock.now()).toBeGreaterThanOrEqual(beforeMs);
      expect(systemClock.now() - startMs).toBeLessThan(hourMs);
      expect(Math.abs(wallClock.now() - systemClock.now() - setToMs)).toBeLessThan(hourMs);
    }),
  );
});

test('Lambda goes by the wall clock, for it stops processes between their calls', () => {
  const trueNow = Date.now;
  const local = openStoreClock(new Services({ BUSDRIVER_PLACEMENT: 'local' }));
  const deployed = openStoreClock(new Services({}));
  vi.spyOn(Date, 'now').mockImplementation(() => trueNow() + hourMs);
  expect(deployed.now() - local.now()).toBeGreaterThan(hourMs / 2);
});
