import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DynamoAgentSessionStore } from '#agents/aws/agent-session-store.ts';
import type { ItemTable } from '#platform/aws/table.ts';
import { createInboxStore } from '#tasks/aws/inbox-store.ts';
import { DynamoTaskStore } from '#tasks/aws/task-store.ts';
import { sendForTask } from '#tasks/operation-queue.ts';
import { processTaskMessage } from '#tasks/process-message.ts';
import { sweepTasks } from '#tasks/sweep-tasks.ts';
import { leaseDurationMs, type Task, type TaskInbox } from '#tasks/task.ts';
import { agentSilenceMs } from '#tasks/task-inbox.ts';
import {
  getTaskView,
  messageOf,
  runTaskOnce,
  toNewTask,
  toOperation,
} from '#test/support/system/task-runs.ts';
import { startTaskSystem, type TestTaskSystem } from '#test/support/system/task-system.ts';

let system: TestTaskSystem;
let inboxes: ReturnType<typeof createInboxStore>;
let sessions: DynamoAgentSessionStore;

beforeAll(async () => {
  system = await startTaskSystem();
  inboxes = createInboxStore(system);
  sessions = new DynamoAgentSessionStore(system);
});

afterAll(() => system[Symbol.asyncDispose]());

/** Long, for time goes on while a test runs. */
const waitMs = 600_000;

async function accept(inbox: TaskInbox): Promise<Task> {
  const { task } = await system.store.accept({ ...toNewTask(system, ['first']), inbox });
  return task;
}

async function listIds(account: string): Promise<string[]> {
  return (await inboxes.list(account, 100)).map(({ taskId }) => taskId);
}

function runAs(task: Task, isAgent: boolean): Promise<void> {
  return processTaskMessage(system, messageOf(task), {
    isAgent,
    findOperation: async (_provider, name) => toOperation(name, async () => ({})),
    stop: new AbortController().signal,
  });
}

describe('a task that waits for an agent', () => {
  it('stands in the inbox of its account until it has ended, and has no message', async () => {
    const task = await accept({ account: 'one', waitMs });
    await sendForTask(system, task);

    expect(await listIds('one')).toEqual([task.id]);
    expect(await listIds('other')).toEqual([]);
    expect(await system.receiveTaskMessages()).not.toContain(task.id);
    await runAs(task, true);

    expect((await getTaskView(system, task)).status).toMatchObject({ completed: true, failed: false });
    expect(await listIds('one')).toEqual([]);
    expect((await system.store.listOpen(1_000)).map(({ taskId }) => taskId)).not.toContain(task.id);
  });

  it('is not run by a worker of the queue, nor is one of the queue by an agent', async () => {
    const task = await accept({ account: 'two', waitMs });
    await runTaskOnce(system, task, { works: { first: async () => ({}) } });
    const { task: queued } = await system.store.accept(toNewTask(system, ['first']));
    await runAs(queued, true);
    for (const each of [task, queued]) {
      const status = await system.store.findStatus(each.id);
      expect(status).toMatchObject({ state: 'STARTED', leaseUntilMs: 0 });
    }
  });

  it('stands in the inbox again when it is submitted anew', async () => {
    const task = await accept({ account: 'three', waitMs });
    const entry = { key: 'ended', lines: [] };
    const failed = await system.store.fail(task.id, 'FAILED_RETRYABLE', entry);
    if (failed !== undefined) await system.store.removeOpen(failed);
    expect(await listIds('three')).toEqual([]);
    const restarted = await system.store.restart(task.id, { key: 'accept', lines: [] });

    expect(restarted?.inbox).toEqual({ account: 'three', waitMs });
    expect(await listIds('three')).toEqual([task.id]);
  });
});

describe('the sweeper', () => {
  const findSeenAgent = (account: string) => sessions.findSeen(account);

  it('fails a task for which no agent is connected in its time, counted from the last lease', async () => {
    const task = await accept({ account: 'four', waitMs });
    await open('gone', 'four');
    system.clock.advance(waitMs - 200_000);
    await sweepTasks({ ...system, findSeenAgent });
    expect((await getTaskView(system, task)).status.completed).toBe(false);
    const taken = await system.store.takeLease(task.id, { ownerId: 'dies@there', attempts: 1 });
    expect(taken).toBeDefined();
    system.clock.advance(leaseDurationMs + waitMs - 200_000);
    await sweepTasks({ ...system, findSeenAgent });
    expect((await getTaskView(system, task)).status.completed).toBe(false);
    system.clock.advance(200_000);
    const report = await sweepTasks({ ...system, findSeenAgent });

    expect(report.unserved).toBeGreaterThan(0);
    const view = await getTaskView(system, task);
    expect(view.status).toMatchObject({ completed: true, failed: true });
    expect(view.resultObjects[0]?.['message']).toMatch(
      /^No agent of account four was connected within 600 s; the last one, gone, was seen at 2\d{3}-/,
    );
    expect(await listIds('four')).toEqual([]);
    expect((await system.listEvents(task.id)).at(-1)).toBe('TaskFailed');
  });

  it('fails none while an agent of its account is connected, and does once that closes its session', async () => {
    const task = await accept({ account: 'five', waitMs });
    system.clock.advance(waitMs + agentSilenceMs);
    const id = await open('alive', 'five');
    await open('elsewhere', 'another');
    await sweepTasks({ ...system, findSeenAgent });
    expect((await getTaskView(system, task)).status.completed).toBe(false);
    await sessions.close(id);
    expect(await sessions.touch(id, system.clock.now())).toBe(false);
    await sweepTasks({ ...system, findSeenAgent });

    expect((await getTaskView(system, task)).resultObjects[0]?.['message']).toContain('the last one, alive,');
  });
});

describe('a task of several accounts', () => {
  const [a, b] = ['seven', 'eight'].map((account) => ({ account, waitMs }));
  const parts = [{ operations: 1, inbox: a }, { operations: 1 }, { operations: 2, inbox: b }];
  const operations = ['first', 'second', 'third', 'fourth'];

  it('is run part by part, each by its own worker, in the order of the operations', async () => {
    const { task } = await system.store.accept({ ...toNewTask(system, operations), inbox: a, parts });
    const ran: string[] = [];
    const run = (isAgent: boolean): Promise<void> =>
      processTaskMessage(system, messageOf(task), {
        isAgent,
        findOperation: async (_provider, name) => toOperation(name, async () => void ran.push(name)),
        stop: new AbortController().signal,
      });
    await run(false);
    expect(ran).toEqual([]);
    await run(true);
    expect([ran, await listIds('seven'), await listIds('eight')]).toEqual([['first'], [], []]);
    // Workers of the queue have a message at once.
    expect(await system.receiveTaskMessages()).toContain(task.id);
    await run(true);
    expect(ran).toEqual(['first']);
    await run(false);
    expect([ran, await listIds('eight')]).toEqual([['first', 'second'], [task.id]]);
    await run(true);
    expect([ran, await listIds('eight')]).toEqual([operations, []]);
    expect((await getTaskView(system, task)).status).toMatchObject({ completed: true, failed: false });
  });

  it('is found again by agents when its row in their inbox is lost, and begins at its first part when it is restarted', async () => {
    const { task } = await system.store.accept({ ...toNewTask(system, operations), inbox: a, parts });
    await runAs(task, true);
    await runAs(task, false);
    const [row] = await inboxes.list('eight', 1);
    if (row !== undefined) await inboxes.remove('eight', row);
    await sweepTasks(system);
    expect(await listIds('eight')).toEqual([task.id]);

    await system.store.fail(task.id, 'FAILED_RETRYABLE', { key: 'ended', lines: [] });
    const restarted = await system.store.restart(task.id, { key: 'accept', lines: [] });
    expect(restarted).toMatchObject({ inbox: a, parts, part: 0 });
    expect(await listIds('seven')).toEqual([task.id]);
  });
});

describe('an account without agents', () => {
  it('costs no call of the store more; one with agents a row that is written and removed, and one that stays', async () => {
    const count = async (inbox: TaskInbox | undefined): Promise<string[]> => {
      const { calls, table } = countCalls(system.table);
      const store = new DynamoTaskStore({ ...system, table });
      const { task } = await store.accept({ ...toNewTask(system, ['first']), inbox });
      const counted = { ...system, store };
      await processTaskMessage(counted, messageOf(task), {
        isAgent: inbox !== undefined,
        findOperation: async (_provider, name) => toOperation(name, async () => ({})),
        stop: new AbortController().signal,
      });
      return calls;
    };

    expect(await count(undefined)).toEqual(['put', 'put', 'putNew', 'update', 'update', 'delete']);
    expect(await count({ account: 'six', waitMs })).toEqual([
      ...['put', 'put', 'put', 'put', 'putNew', 'update', 'update', 'delete', 'delete'],
    ]);
  });
});

async function open(agentId: string, account: string): Promise<string> {
  const id = system.randomness.id();
  const now = system.clock.now();
  await sessions.open({
    ...{
      id,
      agentId,
      version: '1',
      zone: '',
      protocol: 1,
      journalFormat: 1,
      openedAtMs: now,
      seenAtMs: now,
      isClosed: false,
      warnings: [],
    },
    accounts: [{ name: account, identity: 'x', generation: 0 }],
  });
  return id;
}

/** The same table, which tells what is called. */
function countCalls(table: ItemTable): { readonly calls: string[]; readonly table: ItemTable } {
  const calls: string[] = [];
  const counting = new Proxy(table, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      return (...parameters: unknown[]) => {
        calls.push(String(name));
        return member.apply(target, parameters);
      };
    },
  });
  return { calls, table: counting };
}
