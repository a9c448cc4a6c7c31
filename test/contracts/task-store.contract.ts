import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseExactJson } from '#core/bounded-json.ts';
import { UnavailableError } from '#core/errors.ts';
import type { JsonValue } from '#core/json.ts';
import { getOpenKey, getOpenRowKey, getOpenShard, parseOpenRow } from '#tasks/aws/task-items.ts';
import { LeaseLostError, staleRowAgeMs, taskRetentionMs } from '#tasks/task.ts';
import { integers } from '#test/support/run/edge-numbers.ts';
import { type TestClock, testRandomness } from '#test/support/run/test-clock.ts';
import { chooseSize } from '#test/support/run/test-size.ts';
import { testLeases } from './lease.contract.ts';
import type { CountCases, StoreBench, StoreEngine } from './store-bench.ts';
import {
  dieAfterWrites,
  entry,
  findChunks,
  getKeys,
  getOpenRows,
  hold,
  interrupt,
  largePayload,
  newTask,
  openAccepted,
  openLeased,
  openStore,
  refusePut,
  repeatEveryWrite,
  take,
  watchPuts,
} from './store-bench.ts';

/** What every DynamoDB must do for the task store. `getEngine` is called inside the tests. */
export function testTaskStore(
  name: string,
  getEngine: () => StoreEngine,
  countCases: CountCases = chooseSize,
): void {
  const open = (clock?: TestClock): StoreBench => openStore(getEngine(), clock);

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
        const operations = largePayload(3e6);
        const { task } = await store.accept(newTask(operations));

        const leased = await take(store, task.id);
        const header = (await table.get({ pk: `TASK#${task.id}`, sk: 'HEADER' })) as {
          chunks: { attempt: string };
        };
        expect(await leased.readOperations()).toEqual(operations);
        expect((await table.query(`PAYLOAD#${header.chunks.attempt}`)).length).toBeGreaterThan(1);

        await store.commit(leased.lease, { entries: [], next: 'COMPLETED' });
        await store.removeOpen({ ...leased.task, state: 'COMPLETED' });
        expect(await table.query(`PAYLOAD#${header.chunks.attempt}`)).toEqual([]);
      });

      it('answers a finished task to a submission that comes late, and keeps nothing of the latter', async () => {
        const { store, table, documents } = open();
        const task = newTask();
        await store.accept(task);
        const { lease } = await take(store, task.id);
        await store.commit(lease, { entries: [], next: 'COMPLETED' });
        const puts = watchPuts(documents);

        const late = await store.accept({ ...task, operations: largePayload(1e5) });

        expect(late).toMatchObject({ accepted: false, task: { state: 'COMPLETED' } });
        expect(await getOpenRows(store, task.id)).toEqual([late.task.openRow]);
        expect(puts.length).toBeGreaterThan(1);
        expect(await findChunks(table, puts)).toEqual([]);
      });

      it('keeps the chunks of one of two large submissions of the same id, and deletes those of the other', async () => {
        const benches = [open(), open()];
        const payloads = benches.map(() => largePayload(8e5));
        const puts = benches.map(({ documents }) => watchPuts(documents));
        const task = newTask();

        const answers = await Promise.all(
          benches.map(({ store }, index) => store.accept({ ...task, operations: payloads[index] ?? [] })),
        );

        const winner = answers.findIndex(({ accepted }) => accepted);
        const { store, table } = open();
        expect(answers.filter(({ accepted }) => accepted)).toHaveLength(1);
        expect(await (await take(store, task.id)).readOperations()).toEqual(payloads[winner]);
        expect(await findChunks(table, puts[1 - winner] ?? [])).toEqual([]);
      });

      it.each([0, 1, 2])(
        'leaves no task when it is killed after %i writes, only what expires',
        async (writes) => {
          const dying = open();
          const { store, table } = open(dying.clock);
          const task = newTask(largePayload(1e5));
          const puts = watchPuts(dying.documents);
          dieAfterWrites(dying.documents, writes);

          await expect(dying.store.accept(task)).rejects.toThrow('killed');
          expect(await store.find(task.id)).toBeUndefined();
          expect(await store.takeLease(task.id, { ownerId: 'w@h', attempts: 1 })).toBeUndefined();
          expect(await getOpenRows(store, task.id)).toHaveLength(writes === 2 ? 1 : 0);
          const leftovers = await findChunks(table, puts);
          expect(leftovers).toHaveLength(writes === 0 ? 0 : 1);
          const latestExpiry = (dying.clock.now() + taskRetentionMs) / 1000;
          for (const item of leftovers) expect(item['expiresAt']).toBeLessThanOrEqual(latestExpiry);

          expect((await store.accept(task)).accepted).toBe(true);
          expect(await (await take(store, task.id)).readOperations()).toEqual(task.operations);
        },
      );

      it('never hands out a payload of which a chunk is missing, or is that of another', async () => {
        const benches = [open(), open()] as const;
        const puts = benches.map(({ documents }) => watchPuts(documents));
        const [task] = await Promise.all(
          benches.map(({ store }) => store.accept(newTask(largePayload(1e5)))),
        );
        const { store, table } = benches[0];
        const { readOperations } = await take(store, task?.task.id ?? '');
        const [own, foreign] = (await Promise.all(puts.map((some) => findChunks(table, some)))).flat();

        await table.put({ ...own, data: foreign?.['data'] });
        await expect(readOperations()).rejects.toThrow('hash');
        await table.delete({ pk: String(own?.['pk']), sk: String(own?.['sk']) });
        await expect(readOperations()).rejects.toThrow();
        await table.put({ ...own });
        expect(await readOperations()).toHaveLength(1);
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

    testLeases(open, countCases);

    describe('commit()', () => {
      it('keeps every entry in order when the journal outgrows one item', async () => {
        const { store, task, lease } = await openLeased(open);

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

      it('reads nothing that an expired task of the same id has left', async () => {
        const { store, clock } = open();
        const task = newTask();
        const commitSpill = async (bytes: number): Promise<string> => {
          await store.accept(task);
          const { lease } = await take(store, task.id);
          const [{ description } = {}] = largePayload(bytes);
          const text = JSON.stringify(description);
          await store.commit(lease, { entries: [{ ...entry('one'), results: [text] }], next: 'hold' });
          return text;
        };
        await commitSpill(1e6);
        clock.advance(taskRetentionMs + 1000);

        const text = await commitSpill(1e5);

        expect((await store.find(task.id))?.journal.at(-1)?.results).toEqual([text]);
      });

      it('keeps any entry as it was given', async () => {
        const { store } = open();
        const text = fc.string({ unit: 'binary', maxLength: 20 });
        const anyEntry = fc.record({
          key: text,
          lines: fc.array(fc.record({ phase: text, status: text }), { maxLength: 3 }),
          value: fc.oneof(
            fc.array(integers).map((list) => parseExactJson(JSON.stringify({ list })) as JsonValue),
            fc
              .jsonValue({ stringUnit: 'binary' })
              .map((value) => parseExactJson(JSON.stringify(value)) as JsonValue),
          ),
          results: fc.array(text, { maxLength: 3 }),
        });
        await fc.assert(
          fc.asyncProperty(fc.array(anyEntry, { maxLength: 4 }), async (entries) => {
            const { task } = await store.accept(newTask());
            const { lease } = await take(store, task.id);

            await store.commit(lease, { entries, next: 'hold' });

            expect((await store.find(task.id))?.journal).toEqual([entry('accept'), ...entries]);
          }),
          { numRuns: countCases({ short: 12, long: 25 }) },
        );
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
        const { store, task, lease } = await openLeased(open);

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
        const operations = largePayload(1e5);
        const { task } = await store.accept(newTask(operations));
        const failed = await store.fail(task.id, 'FAILED_RETRYABLE', entry('ended'));

        await store.restart(task.id, entry('again'));
        if (failed !== undefined) await store.removeOpen(failed);

        expect(await (await take(store, task.id)).readOperations()).toEqual(operations);
      });

      it('restart with other operations, once', async () => {
        const { store, task } = await openAccepted(open);
        await store.fail(task.id, 'FAILED_RETRYABLE', entry('ended'));
        const other = [{ provider: 'p', name: 'other', description: {} }];
        const submission = { operations: other, accounts: ['account', 'other'], isRestricted: true };

        const answers = await Promise.all(
          Array.from({ length: 5 }, () => store.restart(task.id, entry('again'), submission)),
        );

        expect(answers.filter((answer) => answer !== undefined)).toHaveLength(1);
        const taken = await take(store, task.id);
        expect(await taken.readOperations()).toEqual(other);
        expect(taken.task).toMatchObject({ accounts: ['account', 'other'], isRestricted: true });
      });

      it('leave a finished task as it is', async () => {
        const { store, task, lease } = await openLeased(open);
        await store.commit(lease, { entries: [], next: 'COMPLETED' });

        expect(await store.fail(task.id, 'FAILED', entry('ended'))).toBeUndefined();
        expect(await store.restart(task.id, entry('again'))).toBeUndefined();
        expect((await store.find(task.id))?.state).toBe('COMPLETED');
      });
    });

    describe('the list of open tasks', () => {
      it('is in the order in which they were accepted, and cut at the newest', async () => {
        const { store, clock } = open();
        const ids: string[] = [];
        for (let index = 0; index < 10; index += 1) {
          clock.advance(5);
          ids.push((await store.accept(newTask())).task.id);
        }

        const listed = await store.listOpen(10_000);
        const rows = listed.filter((row) => ids.includes(row.taskId));

        expect(rows.map((row) => row.taskId)).toEqual(ids);
        expect(rows.map((row) => row.acceptedAtMs)).toEqual(rows.map((row) => row.acceptedAtMs).sort());
        expect(await store.listOpen(7)).toEqual(listed.slice(0, 7));
        expect(await store.listOpen(3, listed[4]?.key)).toEqual(listed.slice(5, 8));
        expect(await store.listOpen(3, listed.at(-1)?.key)).toEqual([]);
      });

      it('is read whole and in order however long it is', async () => {
        const { store, table, clock } = open();
        const isSame = testRandomness.id();
        const ids = Array.from({ length: 400 }, (_, index) => `${isSame}${index}`);
        for (const [index, id] of ids.entries()) {
          // All of the first half in one shard, so that its page ends before those of the others.
          const shard = index < 200 ? 0 : getOpenShard(id);
          const sk = getOpenRowKey(id, { acceptedAtMs: clock.now() + index, random: 'x' });
          await table.put({ pk: getOpenKey(shard), sk, expiresAt: 9e9 });
        }

        const listed = await store.listOpen(10_000);

        const own = listed.filter(({ taskId }) => taskId.startsWith(isSame));
        expect(own.map(({ taskId }) => taskId)).toEqual(ids);
        for (const { taskId, key } of own)
          await table
            .delete({ pk: getOpenKey(0), sk: key })
            .then(() => table.delete({ pk: getOpenKey(getOpenShard(taskId)), sk: key }));
      });

      it('gets no row of who took so long that it may have been swept', async () => {
        const { store, clock, documents } = open();
        const task = newTask();
        interrupt(documents, { command: /Put/, when: 'afterwards' }, () => clock.advance(staleRowAgeMs));

        await expect(store.accept(task)).rejects.toThrow(UnavailableError);
        await store.removeOpenRow(parseOpenRow((await store.find(task.id))?.openRow ?? ''));

        const again = await store.accept(task);
        expect(await getOpenRows(store, task.id)).toEqual([again.task.openRow]);
      });

      it.each(['STARTED', 'COMPLETED'] as const)(
        'gets the row of a task again whose first submission died before it, where it is %s',
        async (state) => {
          const dying = open();
          const { store } = open(dying.clock);
          const task = newTask();
          refusePut(dying.documents, /^OPEN#/);
          await expect(dying.store.accept(task)).rejects.toThrow('killed');
          expect(await getOpenRows(store, task.id)).toEqual([]);
          const isOver = state === 'COMPLETED';
          if (isOver) await store.commit((await take(store, task.id)).lease, { entries: [], next: state });

          const again = await store.accept(task);

          expect(again).toMatchObject({ accepted: false, task: { state } });
          expect(await getOpenRows(store, task.id)).toEqual(isOver ? [] : [again.task.openRow]);
        },
      );

      it('names a task from when it is accepted until after it has ended', async () => {
        const { store, documents } = open();
        const puts = watchPuts(documents);
        const { task } = await store.accept(newTask());
        const { lease } = await take(store, task.id);
        await store.commit(lease, { entries: [], next: 'COMPLETED' });
        expect(await getOpenRows(store, task.id)).toEqual([task.openRow]);

        await store.removeOpen(task);
        await store.removeOpen(task);

        expect(await getOpenRows(store, task.id)).toEqual([]);
        const sks = puts.filter(({ pk }) => !pk.startsWith('TASKS#')).map(({ sk }) => sk);
        expect(sks).toEqual([task.openRow, 'HEADER']);
        expect((await store.find(task.id))?.state).toBe('COMPLETED');
      });

      it('loses rows one by one', async () => {
        const { store } = open();
        const tasks = await Promise.all([1, 2, 3].map(async () => (await store.accept(newTask())).task));
        const ids = tasks.map(({ id }) => id);
        const row = (await store.listOpen(10_000)).find(({ taskId }) => taskId === ids[1]);
        if (row !== undefined) await store.removeOpenRow(row);

        const left = (await store.listOpen(10_000)).filter(({ taskId }) => ids.includes(taskId));

        expect(left.map(({ taskId }) => taskId).sort()).toEqual([ids[0], ids[2]].sort());
      });
    });
  });
}
