import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { InvalidInputError } from '#core/errors.ts';
import { createTaskList } from '#tasks/aws/task-list.ts';
import { failTask } from '#tasks/fail-task.ts';
import { parseTaskQuery } from '#tasks/http/task-query.ts';
import { listTasks, type TaskFilter } from '#tasks/list-tasks.ts';
import { redriveTasks } from '#tasks/sweep-tasks.ts';
import { leaseDurationMs, type NewTask, type Task, taskRetentionMs } from '#tasks/task.ts';
import { toTaskSummary } from '#tasks/task-view.ts';
import { toAcceptedValue } from '#tasks/tell-task.ts';
import { acceptTask, getTaskView, runTaskOnce, toNewTask } from '#test/support/system/task-runs.ts';
import { startTaskSystem, type TestTaskSystem } from '#test/support/system/task-system.ts';

let system: TestTaskSystem;
beforeAll(async () => {
  system = await startTaskSystem();
});
afterAll(() => system[Symbol.asyncDispose]());

const asked = { operations: ['deployManifest'], applications: ['shop'], objects: ['deployment web'] };

async function accept(changes: Partial<NewTask> = {}): Promise<Task> {
  const task = toNewTask(system, ['first']);
  const entry = { ...task.entry, value: toAcceptedValue(asked) };
  return (await system.store.accept({ ...task, entry, ...changes })).task;
}

function list(filter: TaskFilter, { limit = 50, mayRead = (_task: Task) => true } = {}) {
  const parts = { store: system.store, list: createTaskList(system) };
  return async (after?: string) => listTasks(parts, filter, { limit, after, mayRead });
}

async function listIds(filter: TaskFilter, options = {}): Promise<string[]> {
  return (await list(filter, options)()).tasks.map(({ id }) => id);
}

describe('the list of tasks', () => {
  it('has ended and open ones, newest first, by what they are of and how they are', async () => {
    const account = 'filtered';
    const ended = await accept({ account, accounts: [account, 'second'], caller: { user: 'ada' } });
    await runTaskOnce(system, ended, { works: { first: () => Promise.reject(new Error('no')) } });
    const open = await accept({ account, accounts: [account], caller: { user: 'eve', application: 'cart' } });

    expect(await listIds({ account })).toEqual([open.id, ended.id]);
    expect(await listIds({ account: 'second' })).toEqual([ended.id]);
    expect(await listIds({ account, application: 'cart' })).toEqual([open.id]);
    expect(await listIds({ account, application: 'shop' })).toEqual([open.id, ended.id]);
    expect(await listIds({ account, user: 'ada' })).toEqual([ended.id]);
    expect(await listIds({ account, operation: 'scaleManifest' })).toEqual([]);
    expect(await listIds({ account, state: 'FAILED' })).toEqual([ended.id]);
    expect(await listIds({ account, sinceMs: open.acceptedAtMs + 1 })).toEqual([]);
    expect(await listIds({ account }, { mayRead: ({ id }: Task) => id === ended.id })).toEqual([ended.id]);
  });

  it('says of each what was asked for, how long it took and why it failed', async () => {
    const task = await accept({ caller: { user: 'ada' } });
    await runTaskOnce(system, task, { works: { first: () => Promise.reject(new Error('secret')) } });
    const found = await system.store.find(task.id);
    expect(found && toTaskSummary(found, system.clock.now())).toMatchObject({
      ...{ id: task.id, state: 'FAILED', account: 'account', user: 'ada', ...asked },
      durationMs: expect.any(Number),
      failure: expect.stringMatching(/^Internal error in TestFirst/),
    });
  });

  it('has each task once, in pages of any size, over days', async () => {
    const account = 'paged';
    const ids: string[] = [];
    for (let index = 0; index < 7; index += 1) {
      ids.unshift((await accept({ account, accounts: [account] })).id);
      system.clock.advance(11 * 3_600_000);
    }
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 8 }), async (limit) => {
        const pages: string[] = [];
        for (let after: string | undefined, turn = 0; turn === 0 || after !== undefined; turn += 1) {
          const page = await list({ account }, { limit })(after);
          expect(page.tasks.length).toBeLessThanOrEqual(limit);
          pages.push(...page.tasks.map(({ id }) => id));
          after = page.after;
        }
        expect(pages).toEqual(ids);
      }),
      { numRuns: 8 },
    );
    system.clock.advance(taskRetentionMs);
    expect(await listIds({ account })).toEqual([]);
  });

  it('has a task that was started again once', async () => {
    const account = 'restarted';
    const task = await accept({ account, accounts: [account] });
    await failTask(system, task, { retryable: true });
    system.clock.advance(1_000);
    await system.store.restart(task.id, { key: 'accept', lines: [] });
    expect(await listIds({ account })).toEqual([task.id]);
  });
});

describe('a request for a list', () => {
  const parse = (query: { readonly [name: string]: string }) =>
    parseTaskQuery({ findQuery: (name) => query[name] });

  it('names states in any case, and times in either form', () => {
    const { filter, limit, after } = parse({ state: 'failed', since: '1970-01-01T00:00:01Z', account: '' });
    expect({ ...filter, limit, after }).toMatchObject({ state: 'FAILED', sinceMs: 1_000, limit: 50 });
    expect(parse({ since: '2000' }).filter.sinceMs).toBe(2_000);
  });

  it.each([
    [{ state: 'running' }, "'state' must be one of STARTED, COMPLETED, FAILED, FAILED_RETRYABLE"],
    [{ since: 'yesterday' }, "'since' must be milliseconds since 1970, or a time like"],
    [{ limit: '201' }, "'limit' must be a whole number from 1 to 200"],
    [{ cursor: '../x' }, "'cursor' must be the cursor of an answer"],
  ])('%j is refused', (query, message) => {
    expect(() => parse(query)).toThrow(InvalidInputError);
    expect(() => parse(query)).toThrow(message);
  });
});

describe('the status of a task that no worker goes on with', () => {
  const getStatus = async (task: Task) => (await getTaskView(system, task)).status.status;

  it('says that it waits for a worker, for how long, and which one may have died', async () => {
    const task = await acceptTask(system, ['first']);
    expect(await getStatus(task)).toBe('accepted');
    system.clock.advance(3_000);
    expect(await getStatus(task)).toMatch(
      /^Waiting for a worker, in turn .* account account \(since \S+Z\)$/,
    );
    await system.store.takeLease(task.id, { ownerId: 'one@dies', attempts: 1 });
    system.clock.advance(leaseDurationMs - 1_000);
    expect(await getStatus(task)).toMatch(
      /^Worker one@dies has made no progress \(since .*takes the task at/,
    );
    system.clock.advance(4_000);
    expect(await getStatus(task)).toMatch(/, after 1 that made no progress$/);
    expect((await getTaskView(system, task)).history).toHaveLength(1);
  });

  it('says that it waits for an agent, and until when', async () => {
    const inbox = { account: 'edge', waitMs: 60_000 };
    const task = await accept({ inbox });
    system.clock.advance(3_000);
    expect(await getStatus(task)).toMatch(
      /^Waiting for an agent of account edge to take it \(since .*, until /,
    );
  });
});

describe('redriveTasks()', () => {
  it('sends for what no worker holds, and ends nothing', async () => {
    const task = await acceptTask(system, ['first']);
    const unserved = await accept({ inbox: { account: 'away', waitMs: 1_000 } });
    system.clock.advance(5_000);
    await system.receiveTaskMessages();
    const report = await redriveTasks(system);
    expect(report).toMatchObject({ failed: 0, isComplete: true });
    expect(await system.receiveTaskMessages()).toContain(task.id);
    expect((await getTaskView(system, unserved)).status.completed).toBe(false);
  });
});
