import { expect, test } from 'vitest';
import { cacheTable } from '#platform/aws/tables.ts';
import {
  type CacheBench,
  countRequests,
  newAccount,
  openCache,
  pod,
  podKey,
  put,
  v,
} from '#test/contracts/cache-bench.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';
import { createStandingClock } from '#test/support/run/test-clock.ts';

const openTable = useLocalTables();

const row = { view: 'serverGroups', row: 'replicaSet shop cart-v001' };

/** Two processes with one cache, and what both write: a pod of an application, with its names and its row. */
async function openTwo() {
  const account = newAccount();
  const clock = createStandingClock();
  const [one, other] = [openCache(openTable(cacheTable), clock), openCache(openTable(cacheTable), clock)];
  const place = { account, application: 'cart' };
  const key = podKey(account, 'cart-a');
  const write = async ({ store }: CacheBench, name: string, at: number): Promise<void> => {
    const putOver = async (): Promise<boolean> => {
      const [over] = await store.getObjects([key], { toWrite: true });
      return store.putObject(pod(key, v(at)), { over });
    };
    if (!(await putOver())) expect(await putOver()).toBe(true);
    await store.recordApplication('cart', account, { clusters: [name], locations: ['shop'] });
    await store.mergeRows(place, [{ ...row, changes: [put(name, at)] }]);
  };
  const expectWrite = (name: string): void =>
    one.store.readAhead({
      object: key,
      application: { ...place, clusters: [name], locations: ['shop'] },
      rows: [{ ...place, ...row }],
    });
  const read = async () => {
    const entries = await other.store.listAccounts('cart', { consistent: true });
    const found = await other.store.getRow({ ...place, ...row }, { consistent: true });
    const clusters = entries.filter((entry) => entry.account === account).flatMap((entry) => entry.clusters);
    return { clusters, entries: [...(found?.read().keys() ?? [])] };
  };
  await write(one, 'one', 1);
  return { key, clock, one, other, write, expectWrite, read };
}

test('what was read ahead is not read again', async () => {
  const { one, write, expectWrite } = await openTwo();
  expectWrite('two');
  const requests = countRequests(one.documents);
  await write(one, 'two', 2);
  expect(requests.take()).toEqual({ PutItem: 3 });
});

test('what somebody else wrote since is read again, and kept', async () => {
  const { key, one, other, write, expectWrite, read } = await openTwo();
  expectWrite('two');
  await one.store.getObjects([key], { toWrite: true });
  await write(other, 'three', 2);
  await write(one, 'two', 3);
  expect(await read()).toEqual({ clusters: ['one', 'three', 'two'], entries: ['one', 'three', 'two'] });
});

test('what was read ahead is of no use once this process wrote it, or ten seconds later', async () => {
  const { clock, one, write, expectWrite } = await openTwo();
  const requests = countRequests(one.documents);
  expectWrite('two');
  await write(one, 'two', 2);
  requests.take();
  await write(one, 'three', 3);
  const reads = { GetItem: 2, PutItem: 3, Query: 1 };
  expect(requests.take()).toEqual(reads);
  expectWrite('four');
  requests.take();
  clock.advance(10_001);
  await write(one, 'four', 4);
  expect(requests.take()).toEqual(reads);
});
