import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RowKey } from '../../shared/core/cache/cache-store.ts';
import { goneEntryRetentionMs } from '../../shared/core/cache/packed-row.ts';
import { arbitraryHistory, getLive } from '../shared/core/cache/row-history.ts';
import type { TestClock } from '../support/test-clock.ts';
import { type CacheBench, collect, countRequests, newAccount, put, remove, v } from './cache-bench.ts';
import { largePayload, repeatEveryWrite } from './store-bench.ts';

/**
 * What every DynamoDB must do for the rows of views.
 *
 * @param open opens a cache, called inside the tests; those that are to see the same time get the same clock
 */
export function testCacheRows(open: (clock?: TestClock) => CacheBench): void {
  const newRow = (row = 'replicaSet shop cart-v003'): RowKey => ({
    application: 'cart',
    account: newAccount(),
    row,
  });

  describe('rows', () => {
    it('hold the latest of each entry, and are written only if that changed something', async () => {
      const { store, documents } = open();
      const requests = countRequests(documents);
      const key = newRow();
      expect(await store.getRow(key)).toBeUndefined();

      expect(await store.mergeRow(key, [put('self', 1), put('pod a', 2)])).toMatchObject({ changed: true });
      requests.take();
      expect(await store.mergeRow(key, [put('self', 1), put('pod a', 1)])).toMatchObject({ changed: false });
      expect(requests.take()).toEqual({ Query: 1 });
      expect(await store.mergeRow(key, [remove('pod a', 3), put('pod b', 4)])).toMatchObject({
        changed: true,
      });
      expect(requests.take()).toEqual({ Query: 1, PutItem: 1 });

      const row = await store.getRow(key, { consistent: true });
      expect(row && getLive(row)).toEqual(
        new Map([
          ['self', { version: v(1), value: 'self at 1' }],
          ['pod b', { version: v(4), value: 'pod b at 4' }],
        ]),
      );
    });

    it('come to what happened, whatever two writers write at the same time, and however often', async () => {
      // Some values are so large that the row is split.
      const large = largePayload(45_000)[0]?.description['text'];
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
              for (const batch of own) await store.mergeRow(key, batch);
            }),
          );

          const row = await benches[0]?.store.getRow(key, { consistent: true });
          expect(row === undefined ? new Map() : getLive(row)).toEqual(end);
          const listed = await collect(
            open().store.listRows(key.application, key.account, { consistent: true }),
          );
          expect(listed.map((stored) => getLive(stored.read()))).toEqual(end.size === 0 ? [] : [end]);
        }),
        { numRuns: 40 },
      );
    });

    it('are written by twenty at a time without losing anything', async () => {
      const { store } = open();
      const key = newRow();
      await Promise.all(
        Array.from({ length: 20 }, (_, index) => store.mergeRow(key, [put(`pod ${index}`, index + 1)])),
      );
      expect((await store.getRow(key, { consistent: true }))?.entries.size).toBe(20);
    });

    it('may grow beyond an item, and read as one', async () => {
      const { store, table } = open();
      const key = newRow();
      const text = largePayload(2_000)[0]?.description['text'];
      const pods = Array.from({ length: 600 }, (_, index) =>
        put(`pod ${index}`, 10 + index, `${text}${index}`),
      );
      await store.mergeRow(key, [put('self', 1), ...pods.slice(0, 400)]);
      await store.mergeRow(key, pods.slice(400));
      const items = await table.query(`ROW#cart#${key.account}`);
      expect(items.length).toBeGreaterThan(8);

      const [row, ...others] = await collect(store.listRows('cart', key.account));
      expect(others).toEqual([]);
      expect(row?.row).toBe(key.row);
      expect(row && getLive(row.read()).size).toBe(601);

      await store.mergeRow(key, [remove('pod 599', 5_000), remove('pod 0', 5_001)]);
      const after = await store.getRow(key, { consistent: true });
      expect(after && getLive(after).size).toBe(599);
      expect((await store.mergeRow(key, [put('pod 599', 4_000)])).changed).toBe(false);
    });

    it('write only the parts in which something changed', async () => {
      const { store, documents } = open();
      const requests = countRequests(documents);
      const key = newRow();
      const text = largePayload(2_000)[0]?.description['text'];
      const pods = Array.from({ length: 300 }, (_, index) => put(`pod ${index}`, 10 + index, `${text}`));
      await store.mergeRow(key, pods);
      requests.take();
      await store.mergeRow(key, [put('pod 299', 9_000)]);
      expect(requests.take()).toMatchObject({ PutItem: 1 });
    });

    it('do not bring back an entry that two writers had put into different parts', async () => {
      const { store, table, clock } = open();
      const key = newRow();
      await store.mergeRow(key, [put('pod', 5)]);
      const [item] = await table.query(`ROW#cart#${key.account}`);
      await table.put({ ...item, sk: `${key.row}#3` });

      await store.mergeRow(key, [remove('pod', 6)]);
      clock.advance(goneEntryRetentionMs + 1_000);
      await store.mergeRow(key, [put('self', 7)]);

      const row = await store.getRow(key, { consistent: true });
      expect(row && [...getLive(row).keys()]).toEqual(['self']);
      expect((await store.mergeRow(key, [put('pod', 5)])).changed).toBe(false);
    });

    it('agree upon an entry that is newer in one of their parts than in another', async () => {
      const { store, table, clock } = open();
      const key = newRow();
      await store.mergeRow(key, [put('pod', 5)]);
      const [old] = await table.query(`ROW#cart#${key.account}`);
      await store.mergeRow(key, [remove('pod', 6)]);
      await table.put({ ...old, sk: `${key.row}#3` });
      expect(await store.getRow(key)).toBeUndefined();

      await store.mergeRow(key, [put('self', 7)]);
      clock.advance(goneEntryRetentionMs + 1_000);
      await store.mergeRow(key, [put('self', 8)]);
      const row = await store.getRow(key, { consistent: true });
      expect(row && [...getLive(row).keys()]).toEqual(['self']);
    });

    it('are not listed without a live entry, and expire a day later unless one comes', async () => {
      const { store, table, clock } = open();
      const key = newRow();
      await store.mergeRow(key, [put('self', 1)]);
      await store.mergeRow(key, [remove('self', 2)]);
      expect(await store.getRow(key)).toBeUndefined();
      expect(await collect(store.listRows('cart', key.account))).toEqual([]);
      const [item] = await table.query(`ROW#cart#${key.account}`);
      expect(Number(item?.['expiresAt']) - clock.now() / 1000).toBeCloseTo(24 * 3600, -1);

      expect((await store.mergeRow(key, [put('self', 1)])).changed).toBe(false);
      await store.mergeRow(key, [put('self', 3)]);
      expect((await table.query(`ROW#cart#${key.account}`))[0]).not.toHaveProperty('expiresAt');
      expect(await collect(store.listRows('cart', key.account))).toHaveLength(1);
    });

    it('are listed over many pages, in order, all or those of a prefix', async () => {
      const { store } = open();
      const { account } = newRow();
      const text = `${largePayload(9_000)[0]?.description['text']}`;
      const names = Array.from(
        { length: 300 },
        (_, index) => `replicaSet shop p${String(index).padStart(3, '0')}`,
      );
      const all = [...names, 'service shop cart', 'odd #0', 'odd', 'é😀', '', 'x'.repeat(2_000)];
      for (const row of all)
        await store.mergeRow({ application: 'cart', account, row }, [put('self', 1, text)]);

      const rows = await collect(store.listRows('cart', account));
      expect(rows.map(({ row }) => row).sort()).toEqual([...all].sort());
      expect(rows.every((row) => row.read().entries.size === 1)).toBe(true);
      const sets = await collect(store.listRows('cart', account, { prefix: 'replicaSet ' }));
      expect(sets.map(({ row }) => row)).toEqual(names);
      expect(await collect(store.listRows('cart', account, { prefix: 'x'.repeat(200) }))).toHaveLength(1);
      expect(await collect(store.listRows('car', account))).toEqual([]);
      expect(await collect(store.listRows('cart', `${account}x`))).toEqual([]);
    });
  });
}
