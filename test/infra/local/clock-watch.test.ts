import { expect, test } from 'vitest';
import { ClockWatch } from '#infra/local/clock-watch.ts';
import { createStoreClock } from '#platform/ports/store-clock.ts';
import { createLogger } from '#platform/services/logger.ts';
import { createStandingClock } from '#test/support/run/test-clock.ts';

const hourMs = 3_600_000;

/** A process that has just begun, on a machine whose clocks are turned by hand. */
function open() {
  const machine = createStandingClock();
  const ahead = { wall: 0, uptime: 0 };
  const clock = createStoreClock(machine);
  const lines: string[] = [];
  const log = {
    ...createLogger({ logLevel: 'SILENT', placement: 'local' }),
    warn: (line: string) => void lines.push(line),
  };
  const watch = new ClockWatch(clock, log, {
    wall: () => machine.now() + ahead.wall,
    process: () => machine.now(),
    uptime: () => machine.now() + ahead.uptime,
  });
  return { machine, ahead, clock, lines, watch };
}

test('a machine that slept has the time of its process moved on, each time', () => {
  const { machine, ahead, clock, lines, watch } = open();
  for (const hours of [8, 9]) {
    // What the monotonic clock did not count.
    Object.assign(ahead, { wall: hours * hourMs, uptime: hours * hourMs });
    watch.look();
    expect(Math.abs(clock.now() - machine.now() - hours * hourMs)).toBeLessThan(1_000);
    machine.advance(hourMs);
    watch.look();
  }
  expect(lines).toEqual([]);
});

test('a clock that is set leaves the time of the process as it is, and the log tells once', () => {
  const { machine, ahead, clock, lines, watch } = open();
  for (const setToMs of [hourMs, hourMs, -hourMs]) {
    ahead.wall = setToMs;
    watch.look();
    expect(clock.now()).toBe(machine.now());
  }
  expect(lines).toHaveLength(2);
  expect(lines[0]).toContain('3600 s ahead of');
  expect(lines[1]).toContain('3600 s behind');
});
