import { afterAll, describe, expect, it } from 'vitest';
import { getOpenKey, getOpenShard } from '#tasks/aws/task-items.ts';
import { settleDeadLetter, sweepTasks } from '#tasks/sweep-tasks.ts';
import { attemptsMax, leaseDurationMs, noProgressMs, type Task } from '#tasks/task.ts';
import type { TaskView, Work } from '#test/support/system/task-runs.ts';
import { acceptTask, getTaskView, runTaskOnce } from '#test/support/system/task-runs.ts';
import { startTaskSystem } from '#test/support/system/task-system.ts';

const system = await startTaskSystem();
afterAll(() => system[Symbol.asyncDispose]());

const accept = (names: readonly string[]): Promise<Task> => acceptTask(system, names);
const getView = (task: Task): Promise<TaskView> => getTaskView(system, task);
const run = (task: Task, works: { [name: string]: Work }): Promise<void> =>
  runTaskOnce(system, task, { works });

/** Has workers take a task, and die, for so long, milliseconds: once more each time that the lease has lapsed. */
async function takeAndDie(task: Task, forMs = noProgressMs): Promise<void> {
  const untilMs = system.clock.now() + forMs;
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    const taken = await system.store.takeLease(task.id, { ownerId: `${attempt}@dies`, attempts: 1 });
    expect(taken).toBeDefined();
    system.clock.advance(leaseDurationMs + 1);
  }
  system.clock.advance(untilMs - system.clock.now());
}

describe('a task that nobody can run', () => {
  it('is failed once its attempts and its time are spent', async () => {
    const task = await accept(['first']);
    await takeAndDie(task);

    await run(task, { first: async () => ({ unexpected: true }) });

    const view = await getView(task);
    expect(view.status).toMatchObject({ completed: true, failed: true });
    expect(view.resultObjects).toEqual([expect.objectContaining({ type: 'EXCEPTION' })]);
  });

  it('is kept while that has not lasted long, as in an outage of DynamoDB', async () => {
    const task = await accept(['first']);
    await takeAndDie(task, noProgressMs - 2_000);
    expect(await settleDeadLetter(system, task.id, 5)).toBe('unended');

    await run(task, { first: async () => ({ done: true }) });
    expect((await getView(task)).status).toMatchObject({ completed: true, failed: false });
  });

  it('is failed by dead letters, but not while a worker holds it', async () => {
    const task = await accept(['first']);
    const taken = await system.store.takeLease(task.id, { ownerId: 'alive@here', attempts: 1 });
    expect(await settleDeadLetter(system, task.id, attemptsMax)).toBe('settled');
    expect((await getView(task)).status.completed).toBe(false);
    if (taken) await system.store.commit(taken.lease, { entries: [], next: 'release' });

    expect(await settleDeadLetter(system, task.id, 5)).toBe('unended');
    system.clock.advance(noProgressMs);
    expect(await settleDeadLetter(system, task.id, 4)).toBe('unended');
    expect((await getView(task)).status.completed).toBe(false);
    await settleDeadLetter(system, task.id, 5);

    expect((await getView(task)).status).toMatchObject({ completed: true, failed: true });
    expect((await system.store.listOpen(10_000)).map((row) => row.taskId)).not.toContain(task.id);
  });
});

describe('a dead letter', () => {
  it('of a task that no worker took tells so', async () => {
    const task = await accept(['first']);
    expect(await settleDeadLetter(system, task.id, 5)).toBe('unbegun');
    expect(await settleDeadLetter(system, 'unknown', 5)).toBe('settled');
  });
});

describe('sweepTasks()', () => {
  it('messages what is open, waits for live leases, and ends what died after completion', async () => {
    const waiting = await accept(['first']);
    const held = await accept(['first']);
    const finished = await accept(['first']);
    await system.store.takeLease(held.id, { ownerId: 'alive@here', attempts: 1 });
    const taken = await system.store.takeLease(finished.id, { ownerId: 'died@here', attempts: 1 });
    if (taken) await system.store.commit(taken.lease, { entries: [], next: 'COMPLETED' });
    await system.receiveTaskMessages();

    await sweepTasks(system);

    const messages = await system.receiveTaskMessages();
    expect(messages).toContain(waiting.id);
    expect(messages).not.toContain(held.id);
    expect(await system.listEvents(finished.id)).toContain('TaskCompleted');
    const open = (await system.store.listOpen(10_000)).map((row) => row.taskId);
    expect(open).toEqual(expect.arrayContaining([waiting.id, held.id]));
    expect(open).not.toContain(finished.id);
  });

  it('goes on with the others when one cannot be dealt with, and takes it up again the next time', async () => {
    const finished = await accept(['first']);
    const waiting = await accept(['first']);
    const taken = await system.store.takeLease(finished.id, { ownerId: 'died@here', attempts: 1 });
    if (taken) await system.store.commit(taken.lease, { entries: [], next: 'COMPLETED' });
    await system.receiveTaskMessages();
    const refuse = async (): Promise<never> => {
      throw new Error('the bus is away');
    };

    const report = await sweepTasks({ ...system, bus: { publish: refuse } });

    expect(report.failed).toBe(1);
    expect(await system.receiveTaskMessages()).toContain(waiting.id);
    expect(await sweepTasks(system)).toMatchObject({ failed: 0, settled: 1 });
  });

  it('removes the row of a submission that died before its header was written', async () => {
    const old = system.clock.now() - 3600_000;
    const sk = `${String(old).padStart(15, '0')}#NOSUCHTASKNOSUCHTASKNOSUCH#x`;
    await system.table.put({
      pk: getOpenKey(getOpenShard('NOSUCHTASKNOSUCHTASKNOSUCH')),
      sk,
      expiresAt: 9e9,
    });
    await sweepTasks(system);
    expect((await system.store.listOpen(10_000)).map((row) => row.key)).not.toContain(sk);
  });
});
