import { expect, test } from 'vitest';
import { type Handler, Invoker } from '#infra/server/functions/invoker.ts';
import { type Scheduler, startScheduler } from '#infra/server/functions/scheduler.ts';
import { createTestClock } from '#test/support/run/test-clock.ts';

const schedule = {
  name: 'sweep',
  module: 'workers/sweep',
  rateMinutes: 1,
  timeoutSeconds: 50,
  eventTypes: ['AccountDefinitionChanged'],
};
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
    // It sleeps again only after the function has returned.
    await settle();
    clock.advance(60_000);
    await expect.poll(() => events).toHaveLength(period);
  }
});

test('runs soon after an event that is its own, once for many, and once more after those that came meanwhile', async () => {
  let runs = 0;
  let finish = () => {};
  const work: Handler = async () => {
    runs += 1;
    await new Promise<void>((resolve) => {
      finish = resolve;
    });
  };
  const clock = createTestClock();
  await using scheduler = start(work, clock);
  await expect.poll(() => runs).toBe(1);
  finish();
  await settle();

  scheduler.tell('SomethingElse');
  clock.advance(1_000);
  await settle();
  expect(runs).toBe(1);
  for (let times = 0; times < 5; times++) scheduler.tell('AccountDefinitionChanged');
  await expect.poll(() => runs).toBe(2);
  scheduler.tell('AccountDefinitionChanged');
  scheduler.tell('AccountDefinitionChanged');
  finish();
  await expect.poll(() => runs).toBe(3);
  finish();
  clock.advance(1_000);
  await settle();
  expect(runs).toBe(3);
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

function start(handler: Handler, clock: ReturnType<typeof createTestClock>): Scheduler {
  return startScheduler({ schedules: [schedule], invoker: new Invoker(async () => handler, silent), clock });
}

/** Lets everything run that is ready to. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
}
