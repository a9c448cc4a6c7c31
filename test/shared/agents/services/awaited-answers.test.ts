import { expect, test } from 'vitest';
import { DynamoLiveReadStore } from '#agents/aws/live-read-store.ts';
import { answerRead } from '#agents/http/agent-read.ts';
import { liveReadWaitMs, readInlineBytesMax } from '#agents/live-read.ts';
import { AwaitedAnswers } from '#agents/services/awaited-answers.ts';
import { ItemTable } from '#platform/aws/table.ts';
import { tasksTable } from '#platform/aws/tables.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';
import { testRandomness } from '#test/support/run/test-clock.ts';
import { createVirtualClock } from '#test/support/run/virtual-clock.ts';

const openTable = useLocalTables();

/** A read that an agent has taken, and that somebody waits for on a clock that stands still. */
async function open() {
  const { tableName, openDocuments } = openTable(tasksTable);
  const clock = createVirtualClock();
  const table = new ItemTable(openDocuments(), tableName);
  const reads = clock.track(new DynamoLiveReadStore({ table, clock }));
  const read = {
    ...{ id: testRandomness.id(), account: 'edge', method: 'manifests.get', args: '{}' },
    acceptedAtMs: clock.now(),
  };
  await reads.add(read);
  await reads.take(read.id);
  const awaited = new AwaitedAnswers();
  const stop = new AbortController();
  const waiting = awaited.wait(read, { reads, clock, signal: stop.signal });
  // What a test does not wait for may fail.
  waiting.catch(() => undefined);
  const answer = async (hub: AwaitedAnswers, data: string, last = true): Promise<number> => {
    const state = await reads.find(read.id);
    if (state === undefined) throw new Error('the read is gone');
    const part = { take: 1, part: 0, last, data: Buffer.from(data).toString('base64') };
    return (await answerRead({ reads, clock, awaited: hub }, state, part)).status;
  };
  return { clock, read, reads, awaited, stop, waiting, answer };
}

/** What who waits has of an answer of one part: it stands with the read. */
const small = { take: 1, parts: 0, failure: undefined, bytes: expect.any(Uint8Array) };
const large = { take: 1, parts: 1, failure: undefined };

test('who waits in the process that takes the answer has it without a pause', async () => {
  const { clock, awaited, waiting, answer } = await open();
  const startMs = clock.now();
  expect(await answer(awaited, 'bytes')).toBe(204);
  expect(await waiting).toEqual(small);
  expect(clock.now()).toBe(startMs);
});

test('who waits in another process finds the answer by looking', async () => {
  const { clock, read, awaited, waiting, answer } = await open();
  expect(await answer(new AwaitedAnswers(), 'x'.repeat(readInlineBytesMax + 1))).toBe(204);
  await clock.pass(15);
  expect(await waiting).toEqual(large);
  // Nobody waits any more.
  expect(awaited.settle(read.id)).toBe(false);
});

test('being told too early, and twice, does no harm', async () => {
  const { clock, read, awaited, waiting, answer } = await open();
  expect([awaited.settle(read.id), awaited.settle(read.id)]).toEqual([true, true]);
  expect(awaited.settle('another read')).toBe(false);
  await clock.pass(1_000);
  expect(await answer(awaited, 'more is to come', false)).toBe(204);
  expect(await answer(awaited, 'bytes')).toBe(204);
  expect(await waiting).toEqual(small);
});

test('the wait has an end, and can be given up', async () => {
  const [late, given] = [await open(), await open()];
  await late.clock.pass(liveReadWaitMs + 1_000);
  await expect(late.waiting).rejects.toThrow('Account edge: no agent answered in time (18 s)');
  expect(late.awaited.settle(late.read.id)).toBe(false);
  given.stop.abort(new Error('nobody is connected'));
  await expect(given.waiting).rejects.toThrow('nobody is connected');
});
