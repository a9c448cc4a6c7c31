import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { ItemTable } from '../../shared/aws/table.ts';
import { DynamoTaskStore } from '../../shared/aws/task-store.ts';
import {
  type JournalEntry,
  type LeasedTask,
  LeaseLostError,
  leaseDurationMs,
  type NewTask,
  taskRetentionMs,
} from '../../shared/core/task.ts';
import { createTestClock, type TestClock, testRandomness } from '../support/test-clock.ts';

/** A DynamoDB to run the contract on. */
export interface StoreEngine {
  readonly tableName: string;
  openDocuments(): DynamoDBDocumentClient;
}

interface Bench {
  readonly store: DynamoTaskStore;
  readonly table: ItemTable;
  readonly clock: TestClock;
  readonly documents: DynamoDBDocumentClient;
}

/** What every DynamoDB must do for the task store. `getEngine` is called inside the tests. */
export function testTaskStore(name: string, getEngine: () => StoreEngine): void {
  const open = (clock = createTestClock()): Bench => {
    const engine = getEngine();
    const documents = engine.openDocuments();
    const table = new ItemTable(documents, engine.tableName);
    const store = new DynamoTaskStore({ table, clock, randomness: testRandomness });
    return { store, table, clock, documents };
  };

  describe(`task store on ${name}`, () => {
    describe('accept()', () => {
      it('answers one task to fifty simultaneous submissions of the same id', async () => {
        const { store } = open();
        const task = newTask();

        const answers = await Promise.all(Array.from({ length: 50 }, () => store.accept(task)));

        expect(answers.filter(({ accepted }) => accepted)).toHaveLength(1);
        expect(new Set(answers.map((answer) => answer.task.openRow)).size).toBe(1);
        const rows = (await store.listOpen(10_000)).filter((row) => row.taskId === task.id);
        expect(rows.map((row) => row.key)).toEqual([answers[0]?.task.openRow]);
      });

      it('keeps a payload of three megabytes, and deletes it with the open row', async () => {
        const { store, table } = open();
        const text = Array.from({ length: 1.2e5 }, () => testRandomness.id()).join('');
        const operations = [{ provider: 'p', name: 'o', description: { text } }];
        const { task } = await store.accept({ ...newTask(), operations });

        const leased = await take(store, task.id);
        const header = (await table.get({ pk: `TASK#${task.id}`, sk: 'HEADER' })) as {
          chunks: { attempt: string };
        };
        expect(await leased.readOperations()).toEqual(operations);
        expect((await table.query(`PAYLOAD#${header.chunks.attempt}`)).length).toBeGreaterThan(1);

        await store.commit(leased.lease, { entries: [], next: 'COMPLETED' });
        await store.removeOpen(task);
        expect(await table.query(`PAYLOAD#${header.chunks.attempt}`)).toEqual([]);
      });

      it('replaces a task that has expired but was not deleted yet', async () => {
        const { store, clock } = open();
        const task = newTask();
        await store.accept(task);

        clock.advance(taskRetentionMs + 1000);

        expect(await store.find(task.id)).toBeUndefined();
        expect((await store.accept(task)).accepted).toBe(true);
      });
    });

    describe('leases', () => {
      it('are held by one of many workers at a time', async () => {
        const { store } = open();
        const { task } = await store.accept(newTask());

        const workers = Array.from({ length: 20 }, (_, index) =>
          store.takeLease(task.id, { ownerId: `w${index}@h`, attempts: 1 }),
        );

        expect((await Promise.all(workers)).filter((lease) => lease !== undefined)).toHaveLength(1);
      });

      it('pass to another worker once they lapse, and shut the first one out', async () => {
        const { store, clock } = open();
        const { task } = await store.accept(newTask());
        const first = await take(store, task.id);

        clock.advance(leaseDurationMs + 1);
        const second = await take(store, task.id);

        expect(second.lease.fence).toBe(first.lease.fence + 1);
        expect(second.task.attempts).toBe(2);
        await expect(store.commit(first.lease, hold('late'))).rejects.toThrow(LeaseLostError);
        await expect(store.renewLease(first.lease)).rejects.toThrow(LeaseLostError);
        await store.commit(second.lease, hold('mine'));
        expect(await getKeys(store, task.id)).toEqual(['accept', 'mine']);
      });

      it('last as long as they are renewed', async () => {
        const { store, clock } = open();
        const { task } = await store.accept(newTask());
        const { lease } = await take(store, task.id);

        for (let round = 0; round < 3; round += 1) {
          clock.advance(leaseDurationMs - 1000);
          await store.renewLease(lease);
        }

        expect(await store.takeLease(task.id, { ownerId: 'other@h', attempts: 1 })).toBeUndefined();
      });

      it('are not given for a finished or unknown task', async () => {
        const { store } = open();
        const { task } = await store.accept(newTask());
        const { lease } = await take(store, task.id);
        await store.commit(lease, { entries: [], next: 'COMPLETED' });

        expect(await store.takeLease(task.id, { ownerId: 'x@h', attempts: 1 })).toBeUndefined();
        expect(await store.takeLease('NOSUCHTASK', { ownerId: 'x@h', attempts: 1 })).toBeUndefined();
      });

      it('count attempts until there is progress', async () => {
        const { store } = open();
        const { task } = await store.accept(newTask());
        const first = await take(store, task.id, 4);
        await store.commit(first.lease, { entries: [], next: 'release' });
        const second = await take(store, task.id, 1);
        expect(second.task.attempts).toBe(5);
        await store.commit(second.lease, { entries: [entry('step')], next: 'release' });

        expect((await take(store, task.id, 1)).task.attempts).toBe(1);
      });
    });

    describe('commit()', () => {
      it('keeps every entry in order when the journal outgrows one item', async () => {
        const { store } = open();
        const { task } = await store.accept(newTask());
        const { lease } = await take(store, task.id);

        const keys = Array.from({ length: 60 }, (_, index) => `step-${index}`);
        for (const key of keys) {
          await store.commit(lease, {
            entries: [{ ...entry(key), value: testRandomness.id().repeat(150) }],
            next: 'hold',
          });
        }
        const large = JSON.stringify({
          blob: Array.from({ length: 2e4 }, () => testRandomness.id()).join(''),
        });
        await store.commit(lease, { entries: [{ ...entry('end'), results: [large] }], next: 'COMPLETED' });

        expect(await getKeys(store, task.id)).toEqual(['accept', ...keys, 'end']);
        expect((await store.find(task.id))?.journal.at(-1)?.results).toEqual([large]);
        expect((await store.find(task.id))?.state).toBe('COMPLETED');
      });

      it('writes nothing twice when the answer of a write is lost and the SDK repeats it', async () => {
        const { store, documents } = open();
        repeatEveryWrite(documents);
        const task = newTask();

        expect((await store.accept(task)).accepted).toBe(true);
        const { lease } = await take(store, task.id);
        await store.commit(lease, hold('one'));
        await store.commit(lease, { entries: [entry('two')], next: 'COMPLETED' });

        expect(await getKeys(store, task.id)).toEqual(['accept', 'one', 'two']);
      });
    });

    describe('fail() and restart()', () => {
      it('end an open task, fence its worker out, and run it again with its own operations', async () => {
        const { store } = open();
        const { task } = await store.accept(newTask());
        const { lease } = await take(store, task.id);

        const failed = await store.fail(task.id, 'FAILED_RETRYABLE', entry('ended'));
        await store.removeOpen(task);
        expect(failed?.state).toBe('FAILED_RETRYABLE');
        await expect(store.commit(lease, hold('late'))).rejects.toThrow(LeaseLostError);

        const restarted = await store.restart(task.id, entry('again'));
        const again = await take(store, task.id);
        expect(restarted?.run).toBe(1);
        expect(await again.readOperations()).toEqual(newTask().operations);
        expect((await store.listOpen(10_000)).map((row) => row.key)).toContain(restarted?.openRow);
      });

      it('keep a large payload of a task that is started again while its end is still being told', async () => {
        const { store } = open();
        const text = Array.from({ length: 4e3 }, () => testRandomness.id()).join('');
        const operations = [{ provider: 'p', name: 'o', description: { text } }];
        const { task } = await store.accept({ ...newTask(), operations });
        const failed = await store.fail(task.id, 'FAILED_RETRYABLE', entry('ended'));

        await store.restart(task.id, entry('again'));
        if (failed !== undefined) await store.removeOpen(failed);

        expect(await (await take(store, task.id)).readOperations()).toEqual(operations);
      });

      it('restart with other operations, once', async () => {
        const { store } = open();
        const { task } = await store.accept(newTask());
        await store.fail(task.id, 'FAILED_RETRYABLE', entry('ended'));
        const other = [{ provider: 'p', name: 'other', description: {} }];

        const answers = await Promise.all(
          Array.from({ length: 5 }, () => store.restart(task.id, entry('again'), other)),
        );

        expect(answers.filter((answer) => answer !== undefined)).toHaveLength(1);
        expect(await (await take(store, task.id)).readOperations()).toEqual(other);
      });

      it('leave a finished task as it is', async () => {
        const { store } = open();
        const { task } = await store.accept(newTask());
        const { lease } = await take(store, task.id);
        await store.commit(lease, { entries: [], next: 'COMPLETED' });

        expect(await store.fail(task.id, 'FAILED', entry('ended'))).toBeUndefined();
        expect(await store.restart(task.id, entry('again'))).toBeUndefined();
        expect((await store.find(task.id))?.state).toBe('COMPLETED');
      });
    });

    it('lists open tasks in the order in which they were accepted', async () => {
      const { store, clock } = open();
      const ids: string[] = [];
      for (let index = 0; index < 10; index += 1) {
        clock.advance(5);
        ids.push((await store.accept(newTask())).task.id);
      }

      const listed = (await store.listOpen(10_000)).map((row) => row.taskId).filter((id) => ids.includes(id));

      expect(listed).toEqual(ids);
    });
  });
}

function newTask(): NewTask {
  return {
    id: testRandomness.id(),
    requestId: 'request',
    account: 'account',
    caller: { user: 'somebody' },
    operations: [{ provider: 'p', name: 'o', description: { field: 'value' } }],
    entry: entry('accept'),
  };
}

function entry(key: string): JournalEntry {
  return { key, lines: [{ phase: 'PHASE', status: `line of ${key}` }] };
}

function hold(key: string): { entries: JournalEntry[]; next: 'hold' } {
  return { entries: [entry(key)], next: 'hold' };
}

async function take(store: DynamoTaskStore, id: string, attempts = 1): Promise<LeasedTask> {
  const leased = await store.takeLease(id, { ownerId: `${testRandomness.id()}@test`, attempts });
  if (leased === undefined) throw new Error('no lease');
  return leased;
}

async function getKeys(store: DynamoTaskStore, id: string): Promise<string[]> {
  return (await store.find(id))?.journal.map(({ key }) => key) ?? [];
}

/** Sends each request twice and keeps the second answer, as when the first one is lost on its way. */
function repeatEveryWrite(documents: DynamoDBDocumentClient): void {
  documents.middlewareStack.add(
    (next, context) => async (args) => {
      const write = /Put|Update|Delete/.test(String(context.commandName));
      if (write) await next(args).catch(() => undefined);
      return next(args);
    },
    { step: 'finalizeRequest', name: 'repeatEveryWrite', priority: 'low' },
  );
}
