import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { tellTime } from '#platform/aws/service-time.ts';
import { ItemTable } from '#platform/aws/table.ts';
import { tables, tasksTable } from '#platform/aws/tables.ts';
import { createStoreClock } from '#platform/ports/store-clock.ts';
import { systemClock } from '#platform/services/system.ts';
import { DynamoTaskStore } from '#tasks/aws/task-store.ts';
import { leaseDurationMs } from '#tasks/task.ts';
import { newTask, take } from '#test/contracts/store-bench.ts';
import { startDynamoDb } from '#test/support/engines/engine-servers.ts';
import type { EngineServer } from '#test/support/engines/http-engine.ts';
import { makeTempDir, type TempDir } from '#test/support/run/temp-dir.ts';
import { testRandomness } from '#test/support/run/test-clock.ts';

let dir: TempDir;
let server: EngineServer;

beforeAll(async () => {
  dir = await makeTempDir();
  server = await startDynamoDb({ dir: dir.path, tables });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await dir[Symbol.asyncDispose]();
});

/** The store of a worker on a machine whose clock is so far ahead. */
function openStore(aheadMs: number): DynamoTaskStore {
  const now = (): number => systemClock.now() + aheadMs;
  const clock = createStoreClock({ ...systemClock, now });
  const documents = tellTime(new DynamoDBClient(server.clientOptions), {
    now,
    take: (told) => clock.take(told),
  });
  const table = new ItemTable(documents, tasksTable.name);
  return new DynamoTaskStore({
    table,
    clock,
    randomness: testRandomness,
    async learnTime() {
      if (!clock.isSet) await table.get({ pk: 'TIME', sk: 'TIME' });
    },
  });
}

const owner = { ownerId: 'other@test', attempts: 1 };

test.each([60_000, -60_000])('a worker whose clock is %i ms ahead steals no lease', async (aheadMs) => {
  const right = openStore(0);
  const wrong = openStore(aheadMs);
  const { task } = await right.accept(newTask());
  const { lease } = await take(right, task.id);

  for (let hint = 0; hint < 3; hint += 1) expect(await wrong.takeLease(task.id, owner)).toBeUndefined();

  await right.renewLease(lease);
  expect(await right.find(task.id)).toMatchObject({ attempts: 1 });
});

test.each([60_000, -60_000])(
  'a lease of one whose clock is %i ms ahead holds as long as others',
  async (aheadMs) => {
    const right = openStore(0);
    const wrong = openStore(aheadMs);
    const { task } = await right.accept(newTask());
    await take(wrong, task.id);

    expect(await right.takeLease(task.id, owner)).toBeUndefined();
    const left = ((await right.find(task.id))?.leaseUntilMs ?? 0) - systemClock.now();
    expect(left).toBeGreaterThan(leaseDurationMs - 10_000);
    expect(left).toBeLessThan(leaseDurationMs + 5_000);
  },
);
