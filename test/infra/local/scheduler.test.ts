import { expect, test } from 'vitest';
import { type Handler, Invoker } from '../../../infra/local/invoker.ts';
import { startScheduler } from '../../../infra/local/scheduler.ts';
import { createTestClock } from '../../support/test-clock.ts';

const schedule = { name: 'sweep', module: 'workers/sweep', rateMinutes: 1, timeoutSeconds: 50 };
const silent = { debug() {}, info() {}, warn() {}, error() {} };

test('runs at the start, and then once a period', async () => {
  const events: unknown[] = [];
  const clock = createTestClock();
  await using _scheduler = start(async (event) => void events.push(event), clock);
  await expect.poll(() => events).toHaveLength(1);
  expect(events[0]).toMatchObject({
    'detail-type': 'Scheduled Event',
    source: 'aws.events',
    resources: ['arn:aws:events:us-east-1:000000000000:rule/sweep'],
  });

  for (let period = 2; period <= 4; period++) {
    clock.advance(60_000);
    await expect.poll(() => events).toHaveLength(period);
  }
});

test('does not run before the period is over', async () => {
  let runs = 0;
  const clock = createTestClock();
  await using _scheduler = start(async () => void runs++, clock);
  await expect.poll(() => runs).toBe(1);
  clock.advance(59_000);
  await settle();
  expect(runs).toBe(1);
  clock.advance(1_000);
  await expect.poll(() => runs).toBe(2);
});

test('never overlaps itself: turns that come meanwhile are left out', async () => {
  let running = 0;
  let runs = 0;
  let finish = () => {};
  const clock = createTestClock();
  const work: Handler = async () => {
    runs += 1;
    running += 1;
    expect(running).toBe(1);
    await new Promise<void>((resolve) => {
      finish = resolve;
    });
    running -= 1;
  };
  await using _scheduler = start(work, clock);
  await expect.poll(() => runs).toBe(1);
  clock.advance(150_000);
  await settle();
  expect(runs).toBe(1);
  finish();
  await settle();
  expect(runs).toBe(1);
  clock.advance(30_000);
  await expect.poll(() => runs).toBe(2);
  finish();
});

test('goes on after a failure, and ends on disposal', async () => {
  let runs = 0;
  const clock = createTestClock();
  const scheduler = start(async () => {
    runs += 1;
    throw new Error('broken');
  }, clock);
  await expect.poll(() => runs).toBe(1);
  clock.advance(60_000);
  await expect.poll(() => runs).toBe(2);
  await scheduler[Symbol.asyncDispose]();
  clock.advance(600_000);
  await settle();
  expect(runs).toBe(2);
});

function start(handler: Handler, clock: ReturnType<typeof createTestClock>): AsyncDisposable {
  return startScheduler({ schedules: [schedule], invoker: new Invoker(async () => handler, silent), clock });
}

/** Lets everything run that is ready to. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
}
