import { describe, expect, it } from 'vitest';
import type { CacheStore, RowPlace } from '#caching/store/cache-store.ts';
import type { RowChange } from '#caching/store/packed-row.ts';
import type { TestClock } from '#test/support/run/test-clock.ts';
import { type CacheBench, collect, countRequests, newAccount, put, remove } from './cache-bench.ts';

const view = 'serverGroups';

/** A page has 1 MB: more than that in all, so that lists come in pages. */
const largeCharacters = 300_000;

/**
 * What lists of rows must tell to a process that has read them before.
 *
 * @param open opens a cache, called inside the tests
 */
export function testCacheRowMemory(open: (clock?: TestClock) => CacheBench): void {
  describe('rows that were listed before', () => {
    it('are asked for their revisions only, and read again where they changed, whoever changed them', async () => {
      const [{ store, documents }, other] = [open(), open()];
      const place = newPlace();
      await merge(other, place, forAll(put('self', 1)));
      const requests = countRequests(documents);
      expect(await list(store, place)).toEqual(toContent(listRowNames(100), 'self at 1'));
      expect(requests.take()).toEqual({ Query: 1 });
      expect(await list(store, place)).toEqual(toContent(listRowNames(100), 'self at 1'));
      expect(requests.take()).toEqual({ Query: 1 });

      await merge(other, place, { 'row 7': put('self', 2) });
      await merge(other, place, { 'row 8': remove('self', 2) });
      await merge(other, place, { 'row new': put('self', 2) });
      const expected = new Map(toContent(listRowNames(100), 'self at 1'))
        .set('row 7', ['self at 2'])
        .set('row new', ['self at 2']);
      expected.delete('row 8');
      expect(await list(store, place)).toEqual(expected);
      expect(requests.take()).toEqual({ Query: 1, BatchGetItem: 1 });
      expect(await list(store, place)).toEqual(expected);
      expect(requests.take()).toEqual({ Query: 1 });
    });

    it('are gone once all of them were removed', async () => {
      const [{ store }, other] = [open(), open()];
      const place = newPlace();
      await merge(other, place, forAll(put('self', 1)));
      expect((await list(store, place)).size).toBe(100);
      await merge(other, place, forAll(remove('self', 2)));
      expect(await list(store, place)).toEqual(new Map());
      await merge(other, place, { 'row 1': put('self', 3) });
      expect(await list(store, place)).toEqual(toContent(['row 1'], 'self at 3'));
    });

    it('of a bucket in several parts are read together again', async () => {
      const [{ store }, other] = [open(), open()];
      const place = newPlace();
      await merge(other, place, forAll(put('self', 1)));
      for (let index = 0; index < 4; index += 1)
        await merge(other, place, { 'row 5': put(`pod ${index}`, 1, `${index}`.repeat(largeCharacters)) });
      const first = await list(store, place);
      expect(first.get('row 5')).toHaveLength(5);
      await merge(other, place, { 'row 5': put('pod 3', 2, 'small') });
      expect((await list(store, place)).get('row 5')?.sort()).toEqual(
        [...(first.get('row 5') ?? []).filter((text) => !String(text).startsWith('3')), 'small'].sort(),
      );
    });

    it('of views are not mixed up with those of all views', async () => {
      const { store } = open();
      const place = newPlace();
      await store.mergeRows(
        place,
        Object.entries(forAll(put('self', 1))).map(([row, change]) => ({ view, row, changes: [change] })),
      );
      await store.mergeRows(place, [{ view: 'managers', row: 'row 1', changes: [put('self', 1)] }]);
      for (let time = 0; time < 2; time += 1) {
        expect((await collect(store.listRows(place, { view }))).length).toBe(100);
        expect((await collect(store.listRows(place))).length).toBe(101);
        expect((await collect(store.listRows(place, { view: 'managers' }))).length).toBe(1);
      }
    });
  });
}

function newPlace(): RowPlace {
  return { application: 'cart', account: newAccount() };
}

function listRowNames(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `row ${index}`);
}

async function merge(
  { store }: CacheBench,
  place: RowPlace,
  changes: { readonly [row: string]: RowChange },
): Promise<void> {
  const rows = Object.entries(changes).map(([row, change]) => ({ view, row, changes: [change] }));
  await store.mergeRows(place, rows);
}

/** The same change of many rows. */
function forAll(change: RowChange): { [row: string]: RowChange } {
  return Object.fromEntries(listRowNames(100).map((row) => [row, change]));
}

function toContent(rows: readonly string[], value: string): Map<string, unknown[]> {
  return new Map(rows.map((row) => [row, [value]]));
}

async function list(store: CacheStore, place: RowPlace): Promise<Map<string, unknown[]>> {
  const rows = await collect(store.listRows(place, { view, consistent: true }));
  return new Map(rows.map(({ row, read }) => [row, [...read().values()].map(({ value }) => value)]));
}
