import { expect, test } from 'vitest';
import { createCacheStore } from '#caching/aws/store/cache-store.ts';
import { type ReadBucket, RowMemory } from '#caching/aws/store/row-memory.ts';
import type { CacheStore } from '#caching/store/cache-store.ts';
import { RememberedBytes } from '#core/remembered-bytes.ts';
import { cacheTable } from '#platform/aws/tables.ts';
import { collect, newAccount, put } from '#test/contracts/cache-bench.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';
import { createTestClock, testRandomness } from '#test/support/run/test-clock.ts';

const openTable = useLocalTables();

/** As many buckets as a place has whose rows are remembered. */
function makeBuckets(characters: number): Map<string, ReadBucket<string>> {
  const bucket = { signature: '1', content: '', characters: characters / 64 };
  return new Map(Array.from({ length: 64 }, (_, index) => [String(index), bucket]));
}

test('remembers the places that were used last, as far as there are bytes for them', () => {
  const memory = new RowMemory(new RememberedBytes(3 * 3 * 64));
  for (const place of ['a', 'b', 'c']) memory.remember(place, makeBuckets(64));
  expect(memory.find('a')).toBeDefined();
  memory.remember('d', makeBuckets(64));
  expect(['a', 'b', 'c', 'd'].filter((place) => memory.find(place) !== undefined)).toEqual(['a', 'c', 'd']);
});

test('remembers nothing of what is too large, nor what it knew of it before', () => {
  const remembered = new RememberedBytes(3 * 640);
  const memory = new RowMemory(remembered);
  memory.remember('a', makeBuckets(64));
  memory.remember('a', makeBuckets(640));
  expect(memory.find('a')).toBeUndefined();
  memory.remember('b', makeBuckets(64));
  memory.remember('b', new Map());
  expect(memory.find('b')).toBeUndefined();
  expect(remembered.bytes).toBe(0);
});

test('what several caches remember stays within few bytes together, and their answers stay right', async () => {
  const bytesMax = 64 << 10;
  const remembered = new RememberedBytes(bytesMax);
  const { tableName, openDocuments } = openTable(cacheTable);
  const common = { tableName, clock: createTestClock(), randomness: testRandomness };
  const open = (memory: RememberedBytes) =>
    createCacheStore({ ...common, documents: openDocuments(), remembered: memory });
  const [one, other, writer] = [open(remembered), open(remembered), open(new RememberedBytes())];
  const account = newAccount();
  const applications = ['cart', 'shop', 'till', 'shelf'];
  const rows = Array.from({ length: 100 }, (_, index) => `row ${index}`);
  const write = (application: string, at: number) =>
    writer.mergeRows(
      { application, account },
      rows.map((row) => ({ view: 'serverGroups', row, changes: [put('self', at, `${row} at ${at}`)] })),
    );
  const list = async (store: CacheStore, application: string) => {
    const found = await collect(store.listRows({ application, account }, { consistent: true }));
    return new Map(found.map(({ row, read }) => [row, [...read().values()].map(({ value }) => value)]));
  };
  await write('cart', 0);
  await list(one, 'cart');
  const bytesOfRows = remembered.bytes;
  expect(bytesOfRows).toBeGreaterThan(0);
  // A name takes bytes, too.
  await one.recordApplication('cart', account, { clusters: rows, locations: [] });
  expect(remembered.bytes).toBeGreaterThan(bytesOfRows);
  for (let at = 1; at <= 3; at += 1) {
    for (const application of applications) await write(application, at);
    for (const application of [...applications, ...applications]) {
      for (const store of [one, other]) {
        await store.recordApplication(application, account, { clusters: rows, locations: [] });
        expect(await list(store, application)).toEqual(
          new Map(rows.map((row) => [row, [`${row} at ${at}`]])),
        );
        expect(remembered.bytes).toBeLessThanOrEqual(bytesMax);
      }
    }
  }
});

test('an application that was removed, and is back under its name, has its new clusters', async () => {
  const { tableName, openDocuments } = openTable(cacheTable);
  const clock = createTestClock();
  const open = () =>
    createCacheStore({ tableName, clock, randomness: testRandomness, documents: openDocuments() });
  const [reader, writer] = [open(), open()];
  const place = { application: 'back', account: newAccount() };
  const record = (cluster: string) =>
    writer.recordApplication(place.application, place.account, { clusters: [cluster], locations: ['web'] });
  const list = async () => (await reader.listAccounts('back')).map(({ clusters }) => clusters);
  await record('deployment one');
  const [first, again] = [await reader.listAccounts('back'), await reader.listAccounts('back')];
  expect([first[0]?.clusters, again[0]]).toEqual([['deployment one'], first[0]]);
  for (let times = 0; times < 2; times += 1) {
    await writer.pruneApplication(place, async () => ({ clusters: [], locations: [] }));
    clock.advance(6 * 60_000);
  }
  await record('deployment two');
  expect(await list()).toEqual([['deployment two']]);
});
