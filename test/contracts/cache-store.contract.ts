import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ItemTooLargeError, tombstoneRetentionMs } from '#caching/store/cache-store.ts';
import type { TestClock } from '#test/support/run/test-clock.ts';
import { chooseSize } from '#test/support/run/test-size.ts';
import type { CacheBench } from './cache-bench.ts';
import { collect, countRequests, newAccount, openCache, pod, podKey, putAll, v } from './cache-bench.ts';
import { testCacheDirectory } from './cache-directory.contract.ts';
import { testCacheRowMemory } from './cache-row-memory.contract.ts';
import { testCacheRows } from './cache-rows.contract.ts';
import { type CountCases, largePayload, repeatEveryWrite, type StoreEngine } from './store-bench.ts';

/** What every DynamoDB must do for the cache. `getEngine` is called inside the tests. */
export function testCacheStore(
  name: string,
  getEngine: () => StoreEngine,
  countCases: CountCases = chooseSize,
): void {
  const open = (clock?: TestClock): CacheBench => openCache(getEngine(), clock);

  describe(`cache on ${name}`, () => {
    describe('the epoch of an account', () => {
      it('rises, and never falls, whoever raises it', async () => {
        const [one, other] = [open(), open()];
        const account = newAccount();
        expect(await one.store.getEpoch(account)).toBeUndefined();
        const [seven, nine] = [
          { epoch: 7, identity: 'a' },
          { epoch: 9, identity: 'b' },
        ] as const;
        expect(await one.store.raiseEpoch(account, seven)).toEqual(seven);
        expect(await other.store.raiseEpoch(account, { epoch: 7, identity: 'b' })).toEqual(seven);
        expect(await other.store.raiseEpoch(account, nine)).toEqual(nine);
        expect(await one.store.raiseEpoch(account, { epoch: 8, identity: 'c' })).toEqual(nine);
        expect(await one.store.getEpoch(account)).toEqual(nine);
      });

      it('is one for all who raise it at once', async () => {
        const account = newAccount();
        const clusters = Array.from({ length: 8 }, (_, index) => `cluster ${index}`);
        const answers = await Promise.all(
          clusters.map((identity) => open().store.raiseEpoch(account, { epoch: 3, identity })),
        );
        expect(new Set(answers.map(({ identity }) => identity)).size).toBe(1);
      });

      it('has the last comparison that was asked for, whatever rises, and takes none before it begins', async () => {
        const { store } = open();
        const account = newAccount();
        expect(await store.requestComparison(account, 1_000)).toBe(false);
        expect(await store.getEpoch(account)).toBeUndefined();
        await store.raiseEpoch(account, { epoch: 5, identity: 'a' });
        expect(await store.requestComparison(account, 2_000)).toBe(true);
        const six = { epoch: 6, identity: 'b', compareMs: 2_000 };
        expect(await store.raiseEpoch(account, { epoch: 6, identity: 'b' })).toEqual(six);
        expect(await store.getEpoch(account)).toEqual(six);
      });

      it('outlives the data of an account that is deleted', async () => {
        const { store } = open();
        const account = newAccount();
        await store.raiseEpoch(account, { epoch: 5, identity: 'a' });
        await store.putObject(pod(podKey(account, 'cart-1'), v(9)));
        await store.deleteAccount(account);
        expect(await store.getEpoch(account)).toEqual({ epoch: 5, identity: 'a' });
      });
    });

    describe('objects', () => {
      it('are cached if they are newer than what is known', async () => {
        const { store } = open();
        const key = podKey(newAccount(), 'cart-1');
        expect(await store.putObject(pod(key, v(9)))).toBe(true);
        expect(await store.putObject(pod(key, v(10)))).toBe(true);
        expect(await store.putObject(pod(key, v(9)))).toBe(false);
        expect(await store.putObject(pod(key, v(3, 2)))).toBe(true);
        expect(await store.putObject(pod(key, v(99)))).toBe(false);

        const [found] = await store.getObjects([key], { consistent: true });
        expect(found).toMatchObject({ key, revision: v(3, 2), application: 'cart', gone: false });
        expect(found?.readBody()).toBe(`cart-1 at ${v(3, 2)}`);
      });

      it('do not come back once they are deleted, unless they are made anew', async () => {
        const { store } = open();
        const key = podKey(newAccount(), 'cart-1');
        await store.putObject(pod(key, v(10)));
        expect(await store.deleteObject(key, v(9))).toBe(false);
        expect(await store.deleteObject(key, v(12))).toBe(true);

        expect(await store.putObject(pod(key, v(11)))).toBe(false);
        expect(await store.putObject(pod(key, v(12)))).toBe(false);
        expect(await store.getObjects([key], { consistent: true })).toEqual([undefined]);
        expect(await store.putObject(pod(key, v(13)))).toBe(true);
      });

      it('that were never there do not come after their deletion, either', async () => {
        const { store } = open();
        const key = podKey(newAccount(), 'cart-1');
        expect(await store.deleteObject(key, v(12))).toBe(true);
        expect(await store.putObject(pod(key, v(11)))).toBe(false);
      });

      it('are what their history says, in whatever order it is told, by whom, and however often', async () => {
        const told = fc.array(fc.record({ at: fc.integer({ min: 1, max: 6 }), writer: fc.nat(1) }), {
          minLength: 1,
          maxLength: 12,
        });
        const gone = fc.uniqueArray(fc.integer({ min: 1, max: 6 }));
        await fc.assert(
          fc.asyncProperty(told, gone, async (tellings, goneAt) => {
            const benches = [open(), open()];
            if (benches[1]) repeatEveryWrite(benches[1].documents);
            const key = podKey(newAccount(), 'cart-1');
            await Promise.all(
              tellings.map(({ at, writer }) => {
                const store = benches[writer]?.store;
                return goneAt.includes(at)
                  ? store?.deleteObject(key, v(at))
                  : store?.putObject(pod(key, v(at)));
              }),
            );
            const last = Math.max(...tellings.map(({ at }) => at));
            const [found] = (await benches[0]?.store.getObjects([key], { consistent: true })) ?? [];
            expect(found?.revision).toBe(goneAt.includes(last) ? undefined : v(last));
          }),
          { numRuns: countCases({ short: 15, long: 30 }) },
        );
      });

      it('answer the same when the answer of a write is lost', async () => {
        const { store, documents } = open();
        repeatEveryWrite(documents);
        const key = podKey(newAccount(), 'cart-1');
        expect(await store.putObject(pod(key, v(1)))).toBe(true);
        expect(await store.deleteObject(key, v(2))).toBe(true);
      });

      it('are written over what was read only if that is still there', async () => {
        const { store } = open();
        const key = podKey(newAccount(), 'cart-1');
        const over = { revision: v(1), application: 'cart' };
        expect(await store.putObject(pod(key, v(2)), { over })).toBe(false);
        expect(await store.putObject(pod(key, v(1)), { over: undefined })).toBe(true);
        expect(await store.putObject(pod(key, v(2)), { over: undefined })).toBe(false);
        expect(await store.putObject(pod(key, v(2)), { over: { ...over, application: 'shop' } })).toBe(false);
        expect(await store.putObject(pod(key, v(2)), { over: { revision: v(1) } })).toBe(false);
        expect(await store.deleteObject(key, v(2), { over: undefined })).toBe(false);
        expect(await store.putObject({ ...pod(key, v(2)), application: undefined }, { over })).toBe(true);

        expect(await store.deleteObject(key, v(3), { over })).toBe(false);
        expect(await store.deleteObject(key, v(1), { over: { revision: v(2) } })).toBe(false);
        expect(await store.deleteObject(key, v(3), { over: { revision: v(2) } })).toBe(true);
        // Its end is as good as nothing, but what came before it stays out.
        expect(await store.putObject(pod(key, v(4)), { over: { revision: v(3) } })).toBe(false);
        expect(await store.putObject(pod(key, v(3)), { over: undefined })).toBe(false);
        expect(await store.putObject(pod(key, v(4)), { over: undefined })).toBe(true);
      });

      it('keep what their writers note of applications, until they take it away', async () => {
        const { store } = open();
        const key = podKey(newAccount(), 'cart-1');
        await store.putObject({ ...pod(key, v(1)), leaving: ['shop', 'cart'] });
        const [found] = await store.getObjects([key]);
        expect(found?.leaving).toEqual(['shop', 'cart']);
        const heads = await collect(store.listHeads(key.account, 'pod'));
        expect(heads.map(({ leaving }) => leaving)).toEqual([['shop', 'cart']]);
        await store.putObject({ ...pod(key, v(1)), leaving: [] });
        expect((await store.getObjects([key]))[0]?.leaving).toBeUndefined();
      });

      it('keep bodies of any text, large ones compressed', async () => {
        const { store, table } = open();
        const key = podKey(newAccount(), 'large');
        await fc.assert(
          fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 3000 }), fc.nat(3), async (text, times) => {
            const body = text.repeat(times);
            await store.putObject({ key, revision: v(1), body });
            const [found] = await store.getObjects([key], { consistent: true });
            expect(found?.readBody()).toBe(body);
          }),
          { numRuns: countCases({ short: 12, long: 25 }) },
        );

        await store.putObject({ key, revision: v(2), body: '{"some":"manifest"}'.repeat(100_000) });
        const item = await table.get({ pk: `OBJECT#${key.account}#pod`, sk: 'shop#large' });
        const stored = item?.['body'];
        expect(stored instanceof Uint8Array && stored.length < 20_000).toBe(true);
      });

      it('that are too large are refused by name, and nothing of them is kept', async () => {
        const { store } = open();
        const account = newAccount();
        const object = { ...pod(podKey(account, 'huge'), v(1)), body: JSON.stringify(largePayload(1e6)) };
        await expect(store.putObject(object)).rejects.toThrow(ItemTooLargeError);
        await expect(store.putObject(object)).rejects.toThrow(
          /pod huge of account account .* bytes compressed/,
        );
        expect(await collect(store.listHeads(account, 'pod', { withGone: true }))).toEqual([]);
      });

      it('are told apart whatever their names are', async () => {
        const { store } = open();
        const account = newAccount();
        const keys = [
          ...[podKey(account, 'b#c', 'a'), podKey(account, 'c', 'a#b'), podKey(account, 'a%23b', '')],
          ...[podKey(account, 'a#b', ''), podKey(account, 'é😀', ''), podKey(account, 'x'.repeat(900), '')],
          podKey(account, `${'x'.repeat(899)}y`, ''),
        ];
        await Promise.all(keys.map((key) => store.putObject(pod(key, v(1)))));

        const listed = (await collect(store.listHeads(account, 'pod'))).map(({ key }) => key);
        expect(new Set(listed)).toEqual(new Set(keys));
        const found = await store.getObjects(keys, { consistent: true });
        expect(found.map((object) => object?.readBody())).toEqual(
          keys.map((key) => `${key.name} at ${v(1)}`),
        );
      });
    });

    describe('getObjects() and lists', () => {
      it('read a thousand objects, over several pages and batches', async () => {
        const { store } = open();
        const account = newAccount();
        const body = JSON.stringify(largePayload(1_500));
        const keys = Array.from({ length: 1_000 }, (_, index) =>
          podKey(account, `p${index}`, `n${index % 10}`),
        );
        await putAll(
          store,
          keys.map((key) => ({ ...pod(key, v(5)), body })),
        );
        await store.deleteObject(podKey(account, 'p7', 'n7'), v(6));

        const objects = await collect(store.listObjects(account, 'pod'));
        expect(objects).toHaveLength(999);
        expect(new Set(objects.map((object) => object.readBody()))).toEqual(new Set([body]));
        expect(await collect(store.listObjects(account, 'pod', { location: 'n7' }))).toHaveLength(99);
        await store.putObject({ ...pod(podKey(account, 'p17', 'n7'), v(7)), application: 'pay' });
        const outside = await collect(store.listObjects(account, 'pod', { location: 'n7', outside: 'pay' }));
        expect(outside).toHaveLength(98);
        expect(await collect(store.listObjects(account, 'pod', { outside: 'other' }))).toHaveLength(999);
        expect(await collect(store.listHeads(account, 'pod'))).toHaveLength(999);
        const heads = await collect(store.listHeads(account, 'pod', { location: 'n7', withGone: true }));
        expect(heads.filter(({ gone }) => gone)).toEqual([
          { key: podKey(account, 'p7', 'n7'), revision: v(6), gone: true, application: undefined },
        ]);
        expect(heads).toHaveLength(100);
        expect(await collect(store.listHeads(account, 'pod', { location: 'n' }))).toEqual([]);
        expect(await collect(store.listHeads(account, 'service'))).toEqual([]);

        const asked = [...keys.slice(0, 250), podKey(account, 'unknown'), ...keys.slice(0, 2)];
        const found = await store.getObjects(asked);
        expect(found.map((object) => object?.key)).toEqual(
          asked.map((key) => (['p7', 'unknown'].includes(key.name) ? undefined : key)),
        );
      });

      it('send again what DynamoDB left out', async () => {
        const { store, documents } = open();
        const account = newAccount();
        const keys = Array.from({ length: 30 }, (_, index) => podKey(account, `p${index}`));
        await putAll(
          store,
          keys.map((key) => pod(key, v(1))),
        );
        const requests = countRequests(documents);
        leaveOut(documents);
        const found = await store.getObjects(keys);
        expect(found.filter((object) => object !== undefined)).toHaveLength(30);
        expect(requests.take()).toEqual({ BatchGetItem: 2 });
      });

      it('forget a deletion after a day, though its item may still be there', async () => {
        const { store, clock } = open();
        const key = podKey(newAccount(), 'cart-1');
        await store.deleteObject(key, v(6));
        clock.advance(tombstoneRetentionMs - 5_000);
        const list = () => collect(store.listHeads(key.account, 'pod', { withGone: true }));
        expect(await list()).toHaveLength(1);
        clock.advance(7_000);
        expect(await list()).toEqual([]);
      });

      it('end when whoever reads them has enough', async () => {
        const { store } = open();
        const account = newAccount();
        const body = JSON.stringify(largePayload(100_000));
        await putAll(
          store,
          Array.from({ length: 20 }, (_, index) => ({ ...pod(podKey(account, `p${index}`), v(1)), body })),
        );
        for await (const page of store.listObjects(account, 'pod')) {
          expect(page.length).toBeLessThan(20);
          break;
        }
      });
    });

    testCacheRows(open, countCases);
    testCacheRowMemory(open);
    testCacheDirectory(open);
  });
}

/** Makes every other batch of several items answer as if its last one had been too much. */
function leaveOut(documents: CacheBench['documents']): void {
  let batches = 0;
  documents.middlewareStack.add(
    (next) => async (args) => {
      const { RequestItems: all } = args.input as { RequestItems?: Record<string, { Keys: unknown[] }> };
      const [[table = '', { Keys: keys } = { Keys: [] }] = []] = Object.entries(all ?? {});
      if (keys.length < 2 || batches++ % 2 === 1) return next(args);
      const cut = (...range: [from: number, to?: number]) => ({
        [table]: { ...all?.[table], Keys: keys.slice(...range) },
      });
      const result = await next({ ...args, input: { ...args.input, RequestItems: cut(0, -1) } });
      Object.assign(result.output as object, { UnprocessedKeys: cut(-1) });
      return result;
    },
    { step: 'initialize', name: 'leaveOut', priority: 'low' },
  );
}
