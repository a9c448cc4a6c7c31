import { afterAll, describe, expect, it } from 'vitest';
import { failTask } from '#tasks/fail-task.ts';
import { processTaskMessage } from '#tasks/process-message.ts';
import { CheckpointError } from '#tasks/run-task.ts';
import { attemptsMax, leaseDurationMs, type Task } from '#tasks/task.ts';
import {
  acceptTask,
  getTaskView,
  messageOf,
  runTaskOnce,
  toOperation,
  type Work,
} from '#test/support/system/task-runs.ts';
import { startTaskSystem } from '#test/support/system/task-system.ts';

const system = await startTaskSystem();
afterAll(() => system[Symbol.asyncDispose]());

const accept = (): Promise<Task> => acceptTask(system, ['first']);
const beatMs = leaseDurationMs / 4;

/** Runs a task on a queue of which `hide` is asked to hide messages. */
async function runHiding(
  task: Task,
  work: Work,
  hide: (receiptHandle: string, seconds: number) => Promise<void>,
): Promise<void> {
  const queue = { ...system.queue, extendVisibility: hide };
  await processTaskMessage({ ...system, queue }, messageOf(task), {
    findOperation: async (_provider, name) => toOperation(name, work),
    stop: new AbortController().signal,
  });
}

async function until(holds: () => boolean | Promise<boolean>, signal?: AbortSignal): Promise<void> {
  while (!(await holds())) {
    signal?.throwIfAborted();
    await system.clock.sleep(5);
  }
}

describe('a queue that hangs', () => {
  it('costs the worker neither its lease nor the task', async () => {
    const task = await accept();
    const work: Work = async ({ signal }) => {
      // Two leases long.
      for (let beat = 0; beat < 8; beat += 1) {
        const before = (await system.store.find(task.id))?.leaseUntilMs ?? 0;
        system.clock.advance(beatMs);
        await until(async () => ((await system.store.find(task.id))?.leaseUntilMs ?? 0) > before, signal);
      }
      return { done: true };
    };

    await runHiding(task, work, () => new Promise(() => undefined));

    expect(await system.store.find(task.id)).toMatchObject({ state: 'COMPLETED', attempts: 0 });
    expect((await getTaskView(system, task)).resultObjects).toEqual([{ done: true }]);
  });
});

describe('the message of a task that runs', () => {
  it('is kept hidden, beat by beat, until the run has ended', async () => {
    const task = await accept();
    const beats: [string, number][] = [];
    const work: Work = async () => {
      for (let beat = 1; beat <= 5; beat += 1) {
        system.clock.advance(beatMs);
        await until(() => beats.length >= beat);
      }
      return {};
    };

    await runHiding(task, work, async (receiptHandle, seconds) => {
      beats.push([receiptHandle, seconds * 1000]);
    });

    expect(beats.length).toBeGreaterThanOrEqual(5);
    expect(new Set(beats.map(([handle]) => handle))).toEqual(new Set([messageOf(task).receiptHandle]));
    // Each holds until some beats later: one that is missed does not show the message.
    expect(Math.min(...beats.map(([, ms]) => ms))).toBeGreaterThanOrEqual(3 * beatMs);
    const count = beats.length;
    system.clock.advance(10 * beatMs);
    await system.clock.sleep(0);
    expect(beats).toHaveLength(count);
  });
});

describe('a task whose only step is longer than the time of a worker', () => {
  it('is handed on as often as it takes, and does not fail', async () => {
    const task = await accept();
    for (let worker = 0; worker < attemptsMax + 2; worker += 1) {
      const stop = new AbortController();
      const work: Work = ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
          stop.abort(new CheckpointError('time is over'));
        });
      await runTaskOnce(system, task, { works: { first: work }, stop: stop.signal });
    }
    expect((await getTaskView(system, task)).status).toMatchObject({ completed: false, failed: false });
    await runTaskOnce(system, task, { works: { first: async () => ({ done: true }) } });
    expect((await getTaskView(system, task)).status).toMatchObject({ completed: true, failed: false });
  });
});

describe('a task that is submitted anew', () => {
  it('does again what it did before', async () => {
    const task = await acceptTask(system, ['first', 'second']);
    const done: string[] = [];
    const first: Work = async (own) => {
      const name = await own.decide('name', async () => `v${done.length}`);
      await own.step('apply', async () => {
        done.push(`first ${name}`);
        return true;
      });
      return { name };
    };
    const second =
      (work: () => Promise<void>): Work =>
      async (own) => {
        await own.step('apply', async () => {
          await work();
          done.push('second');
          return true;
        });
        return {};
      };
    const ending = second(async () => {
      await failTask(system, task, { retryable: true });
    });
    await runTaskOnce(system, task, { works: { first, second: ending } });
    expect((await getTaskView(system, task)).status).toMatchObject({ failed: true, retryable: true });

    await system.store.restart(task.id, { key: 'accept', lines: [] });
    await runTaskOnce(system, task, { works: { first, second: second(async () => undefined) } });

    expect(done).toEqual(['first v0', 'second', 'first v2', 'second']);
    const view = await getTaskView(system, task);
    expect(view.status).toMatchObject({ completed: true, failed: false });
    expect(view.resultObjects.at(-2)).toEqual({ name: 'v2' });
  });
});
