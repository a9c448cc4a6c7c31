import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ItemUpdate } from '#platform/aws/table.ts';
import { getHeaderKey } from '#tasks/aws/task-items.ts';
import { DynamoTaskStore } from '#tasks/aws/task-store.ts';
import { formatWaitMs, journalFormat } from '#tasks/journal-format.ts';
import { CheckpointError } from '#tasks/run-task.ts';
import { settleDeadLetter, sweepTasks } from '#tasks/sweep-tasks.ts';
import { leaseDurationMs, type Task } from '#tasks/task.ts';
import { acceptTask, getTaskView, runTaskOnce, type Work } from '#test/support/system/task-runs.ts';
import { startTaskSystem, type TestTaskSystem } from '#test/support/system/task-system.ts';

let system: TestTaskSystem;
/** The same engines as a worker of another release has them. */
let other: TestTaskSystem;
const otherFormat = journalFormat + 1;

beforeAll(async () => {
  system = await startTaskSystem();
  const store = new (class extends DynamoTaskStore {
    override takeLease(...[id, options]: Parameters<DynamoTaskStore['takeLease']>) {
      return super.takeLease(id, { journalFormat: otherFormat, ...options });
    }
  })(system);
  other = { ...system, store };
});

afterAll(() => system[Symbol.asyncDispose]());

/** Has a worker of a release begin a task, and stop after its first step. */
async function begin(by: TestTaskSystem, ran: string[] = []): Promise<Task> {
  const task = await acceptTask(by, ['work']);
  const stop = new AbortController();
  const work: Work = async (run) => {
    await run.step('first', async () => {
      ran.push('first');
      stop.abort(new CheckpointError('time is over'));
      return 'done';
    });
    return undefined;
  };
  await runTaskOnce(by, task, { works: { work }, stop: stop.signal });
  return task;
}

function toWork(ran: string[]): Work {
  return async (run) => {
    for (const key of ['first', 'second']) {
      await run.step(key, async () => {
        ran.push(key);
        return key;
      });
    }
    return {};
  };
}

const findFormat = async (task: Task) => (await system.store.findStatus(task.id))?.journalFormat;

describe('the journal format of a task', () => {
  it('is none until somebody begins it, and is his from then on, until it is submitted anew', async () => {
    const task = await acceptTask(system, ['work']);
    expect(await findFormat(task)).toBeUndefined();
    await settleDeadLetter(system, task.id, 1);
    expect(await findFormat(task)).toBeUndefined();
    const begun = await begin(other);
    expect(await findFormat(begun)).toBe(otherFormat);

    await system.store.fail(begun.id, 'FAILED_RETRYABLE', { key: 'ended', lines: [] });
    await system.store.restart(begun.id, { key: 'accept', lines: [] });
    expect(await findFormat(begun)).toBeUndefined();
    const ran: string[] = [];
    await runTaskOnce(system, begun, { works: { work: toWork(ran) } });
    expect([ran, (await getTaskView(system, begun)).status.completed]).toEqual([['first', 'second'], true]);
  });

  it('is the first one for tasks of releases that did not remember it', async () => {
    const task = await acceptTask(system, ['work']);
    await system.table.update(
      getHeaderKey(task.id),
      new ItemUpdate().remove('journalFormat').set({ attempts: 0 }),
    );
    expect(await findFormat(task)).toBe(1);
    const ran: string[] = [];
    await runTaskOnce(other, task, { works: { work: toWork(ran) } });
    expect(ran).toEqual([]);
    await runTaskOnce(system, task, { works: { work: toWork(ran) } });
    expect(ran).toEqual(['first', 'second']);
  });

  it('keeps workers of other formats from it; one of its own goes on where it stands', async () => {
    const ran: string[] = [];
    const task = await begin(other, ran);
    const before = await system.store.find(task.id);
    await runTaskOnce(system, task, { works: { work: toWork(ran) } });
    expect(ran).toEqual(['first']);
    expect(await system.store.find(task.id)).toEqual(before);

    await runTaskOnce(other, task, { works: { work: toWork(ran) } });
    expect(ran).toEqual(['first', 'second']);
    expect((await getTaskView(system, task)).status).toMatchObject({ completed: true, failed: false });
  });
});

describe('the sweeper', () => {
  it('fails a task whose format nobody has had for ten minutes since it was last held, and says what to install', async () => {
    const task = await begin(other);
    system.clock.advance(formatWaitMs - 120_000);
    await sweepTasks(system);
    expect((await getTaskView(system, task)).status.completed).toBe(false);
    expect(await system.receiveTaskMessages()).toContain(task.id);
    expect(await other.store.takeLease(task.id, { ownerId: 'dies@there', attempts: 1 })).toBeDefined();
    system.clock.advance(leaseDurationMs + formatWaitMs - 120_000);
    await sweepTasks(system);
    expect((await getTaskView(system, task)).status.completed).toBe(false);
    system.clock.advance(180_000);
    // A worker that has the format holds it: it is left to him.
    const held = await other.store.takeLease(task.id, { ownerId: 'lives@there', attempts: 1 });
    expect((await sweepTasks(system)).foreign).toBe(0);
    if (held !== undefined) await other.store.commit(held.lease, { entries: [], next: 'checkpoint' });
    system.clock.advance(formatWaitMs + 1_000);
    const report = await sweepTasks(system);

    expect(report).toMatchObject({ foreign: 1, failed: 0 });
    const view = await getTaskView(system, task);
    expect(view.status).toMatchObject({ completed: true, failed: true, retryable: false });
    expect(view.status.status).toBe(
      'Orchestration failed: The task was begun with journal format 2, this release has 1, and no worker with 2 took it ' +
        'within 10 minutes. What was done before stays done: look at it before you submit the operation again. To finish ' +
        'such tasks, install a release with journal format 2 until none is left',
    );
    expect(view.resultObjects[0]).toMatchObject({ type: 'EXCEPTION', details: [{ retryable: false }] });
    expect((await system.listEvents(task.id)).at(-1)).toBe('TaskFailed');
    expect(system.logged).toContain('a task was begun with another journal format than this release has');
  });
});
