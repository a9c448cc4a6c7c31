import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CacheStore, RowKey, StoredRow } from '#caching/store/cache-store.ts';
import { goneEntryRetentionMs, type RowChange } from '#caching/store/packed-row.ts';
import { isRevision, type Revision } from '#caching/store/revision.ts';
import { arbitraryHistory } from '#test/shared/caching/store/row-history.ts';
import type { TestClock } from '#test/support/run/test-clock.ts';
import { type CacheBench, collect, countRequests, newAccount, put, remove, v } from './cache-bench.ts';
import { type CountCases, largeText, repeatEveryWrite } from './store-bench.ts';

/**
 * What every DynamoDB must do for the rows of views.
 *
 * @param open opens a cache, called inside the tests; those that are to see the same time get the same clock
 */
export function testCacheRows(open: (clock?: TestClock) => CacheBench, countCases: CountCases): void {
  describe('rows', () => {
    it('hold the latest of each entry, and are written only if that changed something', async () => {
      const { store, documents } = open();
      const requests = countRequests(documents);
      const key = newRow();
      expect(await store.getRow(key)).toBeUndefined();

      expect(await merge(store, key, [put('self', 1), put('pod a', 2)])).toBe(1);
      requests.take();
      expect(await merge(store, key, [put('self', 1), put('pod a', 1)])).toBe(0);
      expect(requests.take()).toEqual({ Query: 1 });
      expect(await merge(store, key, [remove('pod a', 3), put('pod b', 4)])).toBe(1);
      expect(requests.take()).toEqual({ Query: 1, PutItem: 1 });

      const row = await store.getRow(key, { consistent: true });
      expect(row).toMatchObject({ view: key.view, row: key.row });
      expect(row?.read()).toEqual(
        new Map([
          ['self', { revision: v(1), value: 'self at 1' }],
          ['pod b', { revision: v(4), value: 'pod b at 4' }],
        ]),
      );
    });

    it('of a namespace are not those of an application of its name', async () => {
      const { store } = open();
      const [account, view, row] = [newAccount(), 'pods', 'replicaSet shop cart-v003'];
      const changes = [{ view, row, changes: [put('pod a', 1)] }];
      await store.mergeRows({ account, location: 'shop' }, changes);
      expect((await store.getRow({ account, location: 'shop', view, row }))?.read().size).toBe(1);
      for (const place of [
        { account, application: 'shop' },
        { account, location: 'cart' },
      ]) {
        expect(await collect(store.listRows(place))).toEqual([]);
        expect(await store.getRow({ ...place, view, row })).toBeUndefined();
      }
    });

    it('take all changes of a call that names a row twice', async () => {
      const { store } = open();
      const key = newRow();
      const { view, row } = key;
      const twice = [put('self', 1), put('pod', 2)].map((change) => ({ view, row, changes: [change] }));
      expect(await store.mergeRows(key, twice)).toBe(1);
      expect(await listKeys(store, key)).toEqual(['self', 'pod']);
    });

    it('come to what happened, whatever two writers write at the same time, and however often', async () => {
      // Some values are so large that the bucket gets several parts.
      const large = largeText(110_000);
      const history = arbitraryHistory((index) => `${index}${index % 3 === 0 ? large : ''}`);
      await fc.assert(
        fc.asyncProperty(history, fc.integer({ min: 1, max: 4 }), async ({ changes, end }, size) => {
          const benches = [open(), open()];
          if (benches[1]) repeatEveryWrite(benches[1].documents);
          const key = newRow();
          const batches = Array.from({ length: Math.ceil(changes.length / size) }, (_, index) =>
            changes.slice(index * size, (index + 1) * size),
          );
          await Promise.all(
            benches.map(async ({ store }, writer) => {
              const own = writer === 0 ? batches : batches.toReversed();
              for (const batch of own) await merge(store, key, batch);
            }),
          );

          const rows = await list(open().store, key);
          expect(rows.map((row) => row.read())).toEqual(end.size === 0 ? [] : [end]);
        }),
        { numRuns: countCases({ short: 12, long: 25 }) },
      );
    });

    it('give back entries whose revisions stand between two others', async () => {
      const { store } = open();
      const key = newRow();
      const between = (text: string): Revision => {
        if (!isRevision(text)) throw new Error(`${text} is no revision`);
        return text;
      };
      const moved = between(`${v(1)}~${v(2)}`);
      const ended = between(`${v(1)}~`);
      await merge(store, key, [
        { key: 'moved', revision: moved, seenAt: moved, value: 'moved' },
        { key: 'ended', revision: ended, seenAt: ended, value: 'ended' },
        { key: 'last', revision: between(`${v(3)}~~`), gone: true },
      ]);
      await merge(store, key, [put('last', 3)]);

      const row = await store.getRow(key, { consistent: true });
      expect(row?.read()).toEqual(
        new Map([
          ['moved', { revision: moved, value: 'moved' }],
          ['ended', { revision: ended, value: 'ended' }],
        ]),
      );
    });

    it('are written by twenty at a time without losing anything', async () => {
      const { store } = open();
      const key = newRow();
      await Promise.all(
        Array.from({ length: 20 }, (_, index) => merge(store, key, [put(`pod ${index}`, index + 1)])),
      );
      expect((await store.getRow(key, { consistent: true }))?.read().size).toBe(20);
    });

    it('may grow beyond an item, and read as one', async () => {
      const { store, table } = open();
      const key = newRow();
      const pods = Array.from({ length: 1_200 }, (_, index) =>
        put(`pod ${index}`, 10 + index, largeText(2_000)),
      );
      await merge(store, key, [put('self', 1), ...pods.slice(0, 700)]);
      await merge(store, key, pods.slice(700));
      const items = await table.query(`ROW#cart#${key.account}`);
      expect(items.length).toBeGreaterThan(8);

      const [row, ...others] = await list(store, key);
      expect(others).toEqual([]);
      expect(row?.row).toBe(key.row);
      expect(row?.read().size).toBe(1_201);

      await merge(store, key, [remove('pod 1199', 5_000), remove('pod 0', 5_001)]);
      expect((await store.getRow(key, { consistent: true }))?.read().size).toBe(1_199);
      expect(await merge(store, key, [put('pod 1199', 4_000)])).toBe(0);
      expect(await merge(store, key, [put('pod 598', 9_000)])).toBe(1);
    });

    it('do not bring back an entry that two writers had put into different parts', async () => {
      const { store, table, clock } = open();
      const key = newRow();
      await merge(store, key, [put('pod', 5)]);
      const [item] = await table.query(`ROW#cart#${key.account}`);
      await table.put({ ...item, sk: String(item?.['sk']).replace(/0$/, '3') });

      await merge(store, key, [remove('pod', 6)]);
      clock.advance(goneEntryRetentionMs + 1_000);
      await merge(store, key, [put('self', 7)]);

      expect(await listKeys(store, key)).toEqual(['self']);
      expect(await merge(store, key, [put('pod', 5)])).toBe(0);
    });

    it('do not bring back into one part what another one has forgotten', async () => {
      const { store, table, clock } = open();
      const key = newRow();
      await merge(store, key, [put('pod', 5), put('anchor', 5)]);
      const [item] = await table.query(`ROW#cart#${key.account}`);
      const sk = String(item?.['sk']);
      await table.put({ ...item, sk: sk.replace(/0$/, '3') });
      await table.delete({ pk: String(item?.['pk']), sk });
      await merge(store, key, [remove('pod', 6)]);
      clock.advance(goneEntryRetentionMs + 1_000);
      await merge(store, key, [put('anchor', 7)]);

      expect(await merge(store, key, [put('pod', 5)])).toBe(0);
      expect(await listKeys(store, key)).toEqual(['anchor']);
    });

    it('agree upon an entry that is newer in one of their parts than in another', async () => {
      const { store, table, clock } = open();
      const key = newRow();
      await merge(store, key, [put('pod', 5)]);
      const [old] = await table.query(`ROW#cart#${key.account}`);
      await merge(store, key, [remove('pod', 6)]);
      await table.put({ ...old, sk: String(old?.['sk']).replace(/0$/, '3') });
      expect(await store.getRow(key)).toBeUndefined();

      await merge(store, key, [put('self', 7)]);
      clock.advance(goneEntryRetentionMs + 1_000);
      await merge(store, key, [put('self', 8)]);
      expect(await listKeys(store, key)).toEqual(['self']);
    });

    it('are not listed when nothing is in them, and expire a day later unless something comes', async () => {
      const { store, table, clock } = open();
      const key = newRow();
      await merge(store, key, [put('self', 1)]);
      await merge(store, key, [remove('self', 2)]);
      expect(await store.getRow(key)).toBeUndefined();
      expect(await list(store, key)).toEqual([]);
      const [item] = await table.query(`ROW#cart#${key.account}`);
      expect(Number(item?.['expiresAt']) - clock.now() / 1000).toBeCloseTo(24 * 3600, -1);

      expect(await merge(store, key, [put('self', 1)])).toBe(0);
      await merge(store, key, [put('self', 3)]);
      expect((await table.query(`ROW#cart#${key.account}`))[0]).not.toHaveProperty('expiresAt');
      expect(await list(store, key)).toHaveLength(1);
    });

    it('of many are written and read together, those of a view apart from others', async () => {
      const { store, documents } = open();
      const requests = countRequests(documents);
      const { account } = newRow();
      const text = largeText(2_000);
      const names = Array.from({ length: 1_000 }, (_, index) => `replicaSet shop p${index}`);
      const odd = ['odd #0', 'odd', '3:odd', 'é😀', '', '__proto__', 'x'.repeat(2_000)];
      const all = [...names, ...odd];
      // Each its own text: a thousand times the same one would not even fill a page.
      const toValue = (row: string, index: number) => `${row}${text.slice(index)}${largeText(1_500)}`;
      const values = new Map(all.map((row, index) => [row, toValue(row, index)]));
      const changes = [...values].map(([row, value]) => ({
        view: 'serverGroups',
        row,
        changes: [put('self', 1, value)],
      }));
      const service = { view: 'loadBalancers', row: 'odd', changes: [put('self', 2)] };
      expect(await store.mergeRows({ application: 'cart', account }, [...changes, service])).toBe(65);
      expect(requests.take()).toEqual({ Query: 65, PutItem: 65 });

      const rows = await collect(store.listRows({ application: 'cart', account }, { view: 'serverGroups' }));
      expect(rows.map(({ row }) => row).sort()).toEqual([...all].sort());
      for (const { row, read } of rows) {
        expect(read()).toEqual(new Map([['self', { revision: v(1), value: values.get(row) }]]));
      }
      expect(requests.take()['Query']).toBeGreaterThan(1);
      expect(await collect(store.listRows({ application: 'cart', account }))).toHaveLength(all.length + 1);
      expect(
        await collect(store.listRows({ application: 'cart', account }, { view: 'loadBalancers' })),
      ).toHaveLength(1);
      expect(await collect(store.listRows({ application: 'cart', account }, { view: 'server' }))).toEqual([]);
      expect(await collect(store.listRows({ application: 'car', account }))).toEqual([]);
      expect(await collect(store.listRows({ application: 'cart', account: `${account}x` }))).toEqual([]);
      for (const row of odd) {
        const found = await store.getRow({ application: 'cart', account, view: 'serverGroups', row });
        expect(found?.read().get('self')?.value).toBe(values.get(row));
      }
    });
  });
}

function newRow(): RowKey {
  return {
    application: 'cart',
    account: newAccount(),
    view: 'serverGroups',
    row: 'replicaSet shop cart-v003',
  };
}

function merge(store: CacheStore, key: RowKey, changes: readonly RowChange[]) {
  const { view, row } = key;
  return store.mergeRows(key, [{ view, row, changes }]);
}

function list(store: CacheStore, key: RowKey): Promise<StoredRow[]> {
  return collect(store.listRows(key, { consistent: true }));
}

async function listKeys(store: CacheStore, key: RowKey): Promise<string[]> {
  return (await list(store, key)).flatMap((row) => [...row.read().keys()]);
}
