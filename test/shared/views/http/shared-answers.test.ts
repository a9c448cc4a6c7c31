import { beforeEach, expect, test } from 'vitest';
import { createCacheStore } from '#caching/aws/store/cache-store.ts';
import type { CacheStore } from '#caching/store/cache-store.ts';
import { RequestReads } from '#caching/store/request-cache.ts';
import { RememberedBytes } from '#core/remembered-bytes.ts';
import { cacheTable } from '#platform/aws/tables.ts';
import { collect, newAccount, put, remove } from '#test/contracts/cache-bench.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';
import { createTestClock, testRandomness } from '#test/support/run/test-clock.ts';
import { SharedAnswers } from '#views/http/shared-answers.ts';

const openTable = useLocalTables();

let cache: CacheStore;
let place: { readonly application: string; readonly account: string };
let answers: SharedAnswers;
let remembered: RememberedBytes;
let providers: object;
/** How many answers were made. */
let made: number;

beforeEach(() => {
  const { tableName, openDocuments } = openTable(cacheTable);
  const options = { tableName, documents: openDocuments(), clock: createTestClock() };
  cache = createCacheStore({ ...options, randomness: testRandomness });
  place = { application: 'shop', account: newAccount() };
  [answers, remembered, providers, made] = [new SharedAnswers(), new RememberedBytes(), {}, 0];
});

const change = (row: string, changes: Parameters<CacheStore['mergeRows']>[1][number]['changes']) =>
  cache.mergeRows(place, [{ view: 'serverGroups', row, changes }]);

/** The answer of one request, by what is read for it. */
async function ask(
  read: (from: CacheStore) => Promise<unknown>,
  { from = cache, status = 200 } = {},
): Promise<unknown> {
  const reads = new RequestReads(from);
  const { response } = await answers.get('a request', {
    ...{ providers, remembered, reads },
    async make() {
      made += 1;
      const body = JSON.stringify(await read(reads.cache));
      return { response: { status, body }, tag: '', accounts: undefined };
    },
  });
  return JSON.parse(response.body);
}

/** The texts of rows, and the clusters of the application. */
async function readShop(from: CacheStore): Promise<unknown> {
  const rows = await collect(from.listRows(place));
  const texts = rows.flatMap(({ read }) => [...read().values()].map(({ value }) => value));
  const entries = await from.listAccounts('shop');
  return [
    ...texts.sort(),
    ...entries.flatMap(({ account, clusters }) => (account === place.account ? clusters : [])),
  ];
}

test('an answer is made once, and again after each change of what it was made of', async () => {
  await change('a', [put('self', 1, 'a at 1')]);
  expect([await ask(readShop), await ask(readShop), made]).toEqual([['a at 1'], ['a at 1'], 1]);
  await change('a', [put('self', 2, 'a at 2')]);
  expect([await ask(readShop), made]).toEqual([['a at 2'], 2]);
  await change('b', [put('self', 3, 'b at 3')]);
  expect([await ask(readShop), made]).toEqual([['a at 2', 'b at 3'], 3]);
  await change('a', [remove('self', 4)]);
  expect([await ask(readShop), made]).toEqual([['b at 3'], 4]);
  await cache.recordApplication('shop', place.account, { clusters: ['deployment b'], locations: [] });
  expect([await ask(readShop), made]).toEqual([['b at 3', 'deployment b'], 5]);
  expect([await ask(readShop), made]).toEqual([['b at 3', 'deployment b'], 5]);
  providers = {};
  expect([await ask(readShop), made]).toEqual([['b at 3', 'deployment b'], 6]);
});

test('an answer is made each time where it was made of what cannot be compared, or is an error', async () => {
  const key = { account: place.account, kind: 'pod', location: 'web', name: 'a' };
  for (let times = 0; times < 2; times += 1) await ask((from) => from.getObjects([key]));
  expect(made).toBe(2);
  for (let times = 0; times < 2; times += 1) await ask(readShop, { status: 404 });
  expect(made).toBe(4);
});

test('an answer no longer depends on what it was once made of', async () => {
  const asked: string[] = [];
  const from: CacheStore = {
    ...cache,
    listRows(at, how) {
      asked.push('location' in at ? at.location : at.application);
      return cache.listRows(at, how);
    },
  };
  let locations = ['web', 'old'];
  const read = async (cached: CacheStore) => {
    const places = locations.map((location) => ({ account: place.account, location }));
    for (const at of [place, ...places]) await collect(cached.listRows(at));
  };
  const askFor = async () => {
    await ask(async (cached) => (await read(cached)) ?? null, { from });
    return asked.splice(0).sort();
  };
  expect(await askFor()).toEqual(['old', 'shop', 'web']);
  expect(await askFor()).toEqual(['old', 'shop', 'web']);
  await change('a', [put('self', 1, 'a at 1')]);
  locations = ['web'];
  expect(await askFor()).toEqual(['old', 'shop', 'web']);
  expect(await askFor()).toEqual(['shop', 'web']);
});

test('an answer is forgotten with all else that is remembered', async () => {
  await ask(readShop);
  expect(remembered.bytes).toBeGreaterThan(0);
  for (let times = 0; times < 2; times += 1) remembered.forgetUnused();
  await ask(readShop);
  expect(made).toBe(2);
});
