import { afterAll, describe, expect, it } from 'vitest';
import { cancelTask } from '#tasks/cancel-task.ts';
import { sweepTasks } from '#tasks/sweep-tasks.ts';
import { leaseDurationMs, type Task } from '#tasks/task.ts';
import { acceptTask, getTaskView, runTaskOnce, type Work } from '#test/support/system/task-runs.ts';
import { startTaskSystem } from '#test/support/system/task-system.ts';

const system = await startTaskSystem();
afterAll(() => system[Symbol.asyncDispose]());
const { clock } = system;

const cancel = (task: Task) => cancelTask(system, task.id, 'ada');

/** That a task has ended as a cancelled one does, and that the bus and the list of open tasks know it. */
async function expectCancelled(task: Task): Promise<void> {
  const view = await getTaskView(system, task);
  expect(view.status).toMatchObject({ completed: true, failed: true, retryable: false });
  expect(view.status.status).toBe('Orchestration failed: cancelled by ada');
  expect(view.resultObjects.at(-1)).toMatchObject({ type: 'EXCEPTION', message: 'cancelled by ada' });
  expect((await system.listEvents(task.id)).at(-1)).toBe('TaskFailed');
  expect((await system.store.listOpen(1_000)).map(({ taskId }) => taskId)).not.toContain(task.id);
}

describe('a task that is cancelled', () => {
  it('before a worker took it ends at once, and is never begun', async () => {
    const task = await acceptTask(system, ['first']);
    await cancel(task);
    await expectCancelled(task);
    await runTaskOnce(system, task, { works: { first: () => Promise.reject(new Error('begun')) } });
    await expectCancelled(task);
    expect(await cancel(task)).toBeUndefined();
  });

  it('while it waits ends at once', async () => {
    const task = await acceptTask(system, ['first']);
    const work: Work = (own) =>
      own.waitUntil('it', async () => undefined, {
        ...{ describe: () => 'it', deadlineMs: clock.now() + 600_000, clock },
        inPlaceMs: 0,
      });
    for (const seconds of [1, 2, 4, 8]) {
      await runTaskOnce(system, task, { works: { first: work } });
      clock.advance(seconds * 1_000);
    }
    await runTaskOnce(system, task, { works: { first: work } });
    expect((await getTaskView(system, task)).status.status).toMatch(/^Waiting for it/);
    await cancel(task);
    await expectCancelled(task);
  });

  it('under way ends before its next step, and breaks none off', async () => {
    const task = await acceptTask(system, ['first']);
    const done: string[] = [];
    const first: Work = async (own) => {
      await own.step('one', async () => {
        await cancel(task);
        expect((await getTaskView(system, task)).status).toMatchObject({
          ...{ completed: false, status: 'Cancelled by ada: it ends before its next step' },
        });
        done.push('one');
        return null;
      });
      await own.step('two', async () => done.push('two'));
      return {};
    };
    await runTaskOnce(system, task, { works: { first } });
    expect(done).toEqual(['one']);
    await expectCancelled(task);
  });

  it('ends with its last step as it would have', async () => {
    const task = await acceptTask(system, ['first']);
    const first: Work = (own) => own.step('one', async () => ((await cancel(task)) && null) ?? {});
    await runTaskOnce(system, task, { works: { first } });
    expect((await getTaskView(system, task)).status).toMatchObject({ completed: true, failed: false });
  });

  it('is ended by the sweeper where its worker died', async () => {
    const task = await acceptTask(system, ['first']);
    await system.store.takeLease(task.id, { ownerId: 'one@dies', attempts: 1 });
    await cancel(task);
    await sweepTasks(system);
    expect((await getTaskView(system, task)).status.completed).toBe(false);
    clock.advance(leaseDurationMs + 1_000);
    expect(await system.store.takeLease(task.id, { ownerId: 'two@here', attempts: 1 })).toBeUndefined();
    await sweepTasks(system);
    await expectCancelled(task);
  });
});
