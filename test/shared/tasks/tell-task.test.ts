import { createServer } from 'node:http';
import { afterAll, describe, expect, it } from 'vitest';
import { breakerFailuresMax } from '#core/breaker.ts';
import { createBusClient, createEventBus } from '#platform/aws/event-bus.ts';
import type { EventBus } from '#platform/ports/event-bus.ts';
import { failTask } from '#tasks/fail-task.ts';
import { guardBus } from '#tasks/guarded-services.ts';
import { processTaskMessage, type TaskSystem } from '#tasks/process-message.ts';
import { sweepTasks } from '#tasks/sweep-tasks.ts';
import { leaseDurationMs, type Task } from '#tasks/task.ts';
import { toAcceptedValue } from '#tasks/tell-task.ts';
import { localClientOptions } from '#test/support/engines/local-aws-client.ts';
import { listenLocally } from '#test/support/network/local-server.ts';
import { messageOf, toNewTask, toOperation, type Work } from '#test/support/system/task-runs.ts';
import { createMortalSystem, startTaskSystem } from '#test/support/system/task-system.ts';

const system = await startTaskSystem();
afterAll(() => system[Symbol.asyncDispose]());

/** Stores a task as a post of operations does. */
async function accept(): Promise<Task> {
  const task = toNewTask(system, ['first']);
  const entry = {
    ...task.entry,
    value: toAcceptedValue({ operations: ['first'], applications: ['shop'], objects: [] }),
  };
  return (await system.store.accept({ ...task, entry })).task;
}

const twoSteps: Work = async (own) => {
  for (const step of ['a', 'b']) await own.step(step, async () => step);
  return {};
};
const stepsOf = (run: number): string[] => [`${run}/op/0/a`, `${run}/op/0/b`, `${run}/op/0`, `${run}/end`];

async function run(task: Task, { on = system, work = twoSteps }: { on?: TaskSystem; work?: Work } = {}) {
  await processTaskMessage(on, messageOf(task), {
    findOperation: async (_provider, name) => toOperation(name, work),
    stop: new AbortController().signal,
  });
}

/** Runs a task in a process that dies in a step, after a second in which it may tell of those before. */
async function dieInStep(task: Task, name: string, on: TaskSystem = system): Promise<void> {
  const mortal = createMortalSystem(on);
  await new Promise<void>((died, failed) => {
    const work: Work = async (own) => {
      for (const step of ['a', 'b']) {
        await own.step(step, async () => {
          if (step !== name) return step;
          mortal.kill();
          died();
          return new Promise<string>(() => undefined);
        });
      }
      return {};
    };
    run(task, { on: mortal.system, work }).then(() => failed(new Error('it lived')), failed);
  });
  system.clock.advance(leaseDurationMs + 1_000);
}

/** What the bus knows of a task: types of events, of steps with their names. */
async function listTold(task: Task): Promise<string[]> {
  const events = await system.listTaskEvents(task.id);
  return events.map(({ type, detail }) =>
    detail['step'] === undefined ? type : `${type} ${detail['step']}`,
  );
}

const away: EventBus = {
  async publish() {
    throw new Error('the bus is away');
  },
};

const allOf = (...steps: readonly string[]): string[] => steps.map((step) => `TaskStepCompleted ${step}`);

describe('each event of a task comes at least once', () => {
  it('when its first worker dies before it told anything', async () => {
    const task = await accept();
    await dieInStep(task, 'b');

    await run(task);

    expect(await listTold(task)).toEqual(['TaskAccepted', ...allOf(...stepsOf(0)), 'TaskCompleted']);
    const [accepted] = await system.listTaskEvents(task.id);
    expect(accepted?.detail).toMatchObject({
      operations: ['first'],
      applications: ['shop'],
      taskId: task.id,
    });
  });

  it('when its worker dies between its end and the telling, or the bus is away all the time', async () => {
    const task = await accept();
    await run(task, { on: { ...system, bus: away } });
    expect(await system.store.find(task.id)).toMatchObject({ state: 'COMPLETED' });
    expect(await listTold(task)).toEqual([]);
    await sweepTasks({ ...system, bus: away });
    const endedAtMs = system.clock.now();
    system.clock.advance(3_600_000);

    await sweepTasks(system);

    expect(await listTold(task)).toEqual(['TaskAccepted', ...allOf(...stepsOf(0)), 'TaskCompleted']);
    const end = (await system.listTaskEvents(task.id)).at(-1)?.detail['endedAtMs'];
    expect(Math.abs(Number(end) - endedAtMs)).toBeLessThan(120_000);
    expect((await system.store.listOpen(10_000)).map(({ taskId }) => taskId)).not.toContain(task.id);
  });

  it('when a task is failed, and submitted anew before that was told', async () => {
    const task = await accept();
    await dieInStep(task, 'b', { ...system, bus: away });
    await failTask({ ...system, bus: away }, task, { retryable: true });
    await system.store.restart(task.id, { key: 'accept', lines: [] });

    await run(task);

    const told = await listTold(task);
    expect(told).toEqual([
      'TaskAccepted',
      ...allOf('0/op/0/a'),
      'TaskFailed',
      ...allOf(...stepsOf(1)),
      'TaskCompleted',
    ]);
    const failed = (await system.listTaskEvents(task.id)).find(({ type }) => type === 'TaskFailed');
    expect(failed?.detail).toMatchObject({ state: 'FAILED_RETRYABLE' });
  });

  it('and once when nothing goes wrong, however many workers hand the task on', async () => {
    const task = await accept();
    const work: Work = async (own) => {
      await own.step('a', async () => 'a');
      // Long enough that what was done is told while the task goes on.
      system.clock.advance(1_100);
      await own.step('b', async () => 'b');
      await expect.poll(() => listTold(task)).toContain('TaskStepCompleted 0/op/0/a');
      await own.step('c', async () => 'c');
      return {};
    };
    await run(task, { work });

    const told = await listTold(task);
    expect(told.toSorted()).toEqual([...new Set(told)].toSorted());
    expect(told).toHaveLength(7);
  });
});

describe('a bus that is silent', () => {
  it('keeps no task from being completed, and workers wait for it a few times only', async () => {
    const server = createServer(() => undefined);
    const port = await listenLocally(server);
    let calls = 0;
    server.on('request', () => {
      calls += 1;
    });
    const client = createBusClient({
      ...localClientOptions,
      endpoint: `http://127.0.0.1:${port}`,
      maxAttempts: 1,
      requestHandler: { requestTimeout: 100, throwOnRequestTimeout: true },
    });
    const bus = guardBus(createEventBus(client, 'busdriver', system), system.clock);

    const tasks: Task[] = [];
    for (let index = 0; index < 10; index += 1) {
      const task = await accept();
      tasks.push(task);
      await run(task, { on: { ...system, bus } });
    }

    const states = await Promise.all(tasks.map(async ({ id }) => (await system.store.find(id))?.state));
    expect(new Set(states)).toEqual(new Set(['COMPLETED']));
    expect(calls).toBeLessThanOrEqual(breakerFailuresMax);
    client.destroy();
    server.closeAllConnections();
    server.close();
    await sweepTasks(system);
    expect(await Promise.all(tasks.map(async (task) => (await listTold(task)).at(-1)))).toEqual(
      tasks.map(() => 'TaskCompleted'),
    );
  });
});
