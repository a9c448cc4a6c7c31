import { expect, test } from 'vitest';
import { tellTime } from '../../../../shared/aws/service-time.ts';
import { ItemTable } from '../../../../shared/aws/table.ts';
import { tasksTable } from '../../../../shared/aws/tables.ts';
import { DynamoTaskStore } from '../../../../shared/aws/tasks/task-store.ts';
import { createStoreClock } from '../../../../shared/core/store-clock.ts';
import { leaseDurationMs } from '../../../../shared/core/tasks/task.ts';
import { systemClock } from '../../../../shared/runtime/services/system.ts';
import { newTask, take } from '../../../contracts/store-bench.ts';
import { useLocalTables } from '../../../support/engines/local-tables.ts';
import { testRandomness } from '../../../support/run/test-clock.ts';

const open = useLocalTables();

/** The store of a worker on a machine whose clock is so far ahead. */
function openStore(aheadMs: number): DynamoTaskStore {
  const { openDocuments, tableName } = open(tasksTable);
  const now = (): number => systemClock.now() + aheadMs;
  const clock = createStoreClock({ ...systemClock, now });
  const documents = tellTime(openDocuments(), { now, take: (told) => clock.take(told) });
  const table = new ItemTable(documents, tableName);
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
