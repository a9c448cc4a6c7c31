import { describe, expect, it } from 'vitest';
import { ItemTooLargeError } from '#caching/store/cache-store.ts';
import { unusedNameRetentionMs } from '#caching/store/recorded-names.ts';
import type { TestClock } from '#test/support/run/test-clock.ts';
import {
  type CacheBench,
  collect,
  countRequests,
  countWriteUnits,
  newAccount,
  pod,
  podKey,
  put,
  putAll,
  v,
} from './cache-bench.ts';

const shop = { clusters: ['cart', 'cart-main'], locations: ['shop'] };
const nothing = { clusters: [], locations: [] };

/**
 * What every DynamoDB must do for the directory of applications, and for the removal of accounts.
 *
 * @param open opens a cache, called inside the tests; those that are to see the same time get the same clock
 */
export function testCacheDirectory(open: (clock?: TestClock) => CacheBench): void {
  describe('the directory', () => {
    it('has what an application has in each account', async () => {
      const { store } = open();
      const [one, other] = [newAccount(), newAccount()];
      const application = `cart ${one}`;
      await store.recordApplication(application, one, shop);
      await store.recordApplication(application, one, { clusters: ['cart-canary'], locations: [] });
      await store.recordApplication(application, other, { clusters: [], locations: ['web'] });

      const expected = [
        { application, account: one, clusters: ['cart', 'cart-canary', 'cart-main'], locations: ['shop'] },
        { application, account: other, clusters: [], locations: ['web'] },
      ];
      const listed = await store.listAccounts(application);
      expect(listed).toHaveLength(2);
      expect(listed).toEqual(expect.arrayContaining(expected));
      expect(await store.listApplications()).toEqual(expect.arrayContaining(expected));
    });

    it('tells applications apart whatever their names are', async () => {
      const { store } = open();
      const account = newAccount();
      const names = ['a', 'a#b', 'a%23b', 'é😀', '', 'a:b', '__proto__', 'n'.repeat(3_000)];
      for (const name of names)
        await store.recordApplication(name, account, { clusters: [name], locations: [''] });
      const own = (await store.listApplications()).filter((entry) => entry.account === account);
      expect(own.map(({ application }) => application).sort()).toEqual([...names].sort());
      const accounts = await store.listAccounts('a');
      expect(accounts.filter((entry) => entry.account === account)).toEqual([
        { application: 'a', account, clusters: ['a'], locations: [''] },
      ]);
    });

    it('is written once, and then for two minutes not even read', async () => {
      const { store, documents, clock } = open();
      const requests = countRequests(documents);
      const account = newAccount();
      await store.recordApplication('cart', account, shop);
      expect(requests.take()).toEqual({ GetItem: 1, PutItem: 1 });
      await store.recordApplication('cart', account, shop);
      expect(requests.take()).toEqual({});
      clock.advance(2 * 60_000 + 1);
      await store.recordApplication('cart', account, shop);
      expect(requests.take()).toEqual({ GetItem: 1 });
    });

    it('takes two writes for sixteen that one process notes at the same time', async () => {
      const { store, documents } = open();
      const requests = countRequests(documents);
      const account = newAccount();
      const clusters = Array.from({ length: 16 }, (_, index) => `cart-${index + 10}`);
      await Promise.all(
        clusters.map((name) => store.recordApplication('cart', account, { clusters: [name], locations: [] })),
      );
      expect(requests.take()).toEqual({ GetItem: 2, PutItem: 2 });
      const own = (await open().store.listAccounts('cart')).find((entry) => entry.account === account);
      expect(own?.clusters).toEqual(clusters);
    });

    it('keeps everything that ten writers note at the same time', async () => {
      const account = newAccount();
      await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          open().store.recordApplication('cart', account, { clusters: [`c${index}`], locations: [] }),
        ),
      );
      const own = (await open().store.listAccounts('cart')).find((entry) => entry.account === account);
      expect(own?.clusters).toHaveLength(10);
    });

    it('does not list what is left no more, and drops it later; what is noted meanwhile stays', async () => {
      const { store, clock, table } = open();
      const account = newAccount();
      const list = async () =>
        (await store.listAccounts('cart'))
          .filter((entry) => entry.account === account)
          .map(({ clusters }) => clusters);
      await store.recordApplication('cart', account, shop);

      const left = { clusters: ['cart'], locations: ['shop'] };
      expect(await store.pruneApplication({ application: 'cart', account }, async () => left)).toBe(true);
      expect(await list()).toEqual([['cart']]);
      expect(await store.pruneApplication({ application: 'cart', account }, async () => nothing)).toBe(true);
      expect(await list()).toEqual([]);
      await store.recordApplication('cart', account, left);
      expect(await list()).toEqual([['cart']]);

      clock.advance(unusedNameRetentionMs + 1);
      expect(await store.pruneApplication({ application: 'cart', account }, async () => left)).toBe(false);
      expect(await list()).toEqual([['cart']]);
      await store.pruneApplication({ application: 'cart', account }, async () => nothing);
      clock.advance(unusedNameRetentionMs + 1);
      expect(await store.pruneApplication({ application: 'cart', account }, async () => nothing)).toBe(false);
      expect(await table.get({ pk: 'APPLICATIONS', sk: `cart#${account}` })).toBeUndefined();
      expect(await store.pruneApplication({ application: 'cart', account }, async () => nothing)).toBe(false);
    });

    it('asks again what is left when somebody notes something at that moment', async () => {
      const one = open();
      const other = open(one.clock);
      const account = newAccount();
      await one.store.recordApplication('cart', account, shop);
      let asked = 0;
      await one.store.pruneApplication({ application: 'cart', account }, async () => {
        asked += 1;
        if (asked === 1) {
          await other.store.recordApplication('cart', account, { clusters: ['new'], locations: [] });
        }
        return { ...shop, clusters: asked === 1 ? ['cart'] : ['cart', 'new'] };
      });
      expect(asked).toBe(2);
      const own = (await one.store.listAccounts('cart')).find((entry) => entry.account === account);
      expect(own?.clusters).toContain('new');
    });
  });

  describe('the directory of an application with a thousand clusters', () => {
    it('is one item, which is cheap to read and to write', async () => {
      const { store, documents, table, clock } = open();
      const account = newAccount();
      const clusters = Array.from({ length: 1_000 }, (_, index) => `deployment cart-${index}`).sort();
      await store.recordApplication('cart', account, { clusters, locations: ['shop'] });
      const units = countWriteUnits(documents);
      await store.recordApplication('cart', account, { clusters: ['cart-new'], locations: ['shop'] });
      expect(units.take()).toBeLessThan(10);
      const items = await table.query('APPLICATIONS');
      expect(items.filter((item) => item['account'] === account)).toHaveLength(1);
      const left = { clusters: ['cart-new'], locations: [] };
      await store.pruneApplication({ application: 'cart', account }, async () => left);
      clock.advance(unusedNameRetentionMs + 1);
      expect(await store.pruneApplication({ application: 'cart', account }, async () => left)).toBe(false);
      const own = (await store.listAccounts('cart')).find((entry) => entry.account === account);
      expect(own).toMatchObject(left);
    });
  });

  describe('the directory of an application with more names than an item holds', () => {
    // As 9,500 ReplicaSets would make them: 700 KB.
    const many = Array.from({ length: 9_500 }, (_, index) => `cart-${String(index).padEnd(60, 'x')}`).sort();
    const find = async (store: CacheBench['store'], account: string) =>
      (await store.listAccounts('cart')).find((entry) => entry.account === account);

    it('lists all of them, and notes another one for a few units', async () => {
      const { store, documents } = open();
      const account = newAccount();
      expect(await store.recordApplication('cart', account, { clusters: many, locations: ['shop'] })).toEqual(
        [],
      );
      expect(await find(store, account)).toEqual({
        application: 'cart',
        account,
        clusters: many,
        locations: ['shop'],
      });
      const units = countWriteUnits(documents);
      await store.recordApplication('cart', account, { clusters: ['cart-new'], locations: ['shop'] });
      expect(units.take()).toBeLessThan(20);
      expect((await find(store, account))?.clusters).toHaveLength(many.length + 1);
    });

    it('takes away what is not left, from all of its items', async () => {
      const { store, clock, table } = open();
      const account = newAccount();
      await store.recordApplication('cart', account, { clusters: many, locations: ['shop'] });
      const left = async () => ({ clusters: many.slice(0, 5), locations: ['shop'] });
      expect(await store.pruneApplication({ application: 'cart', account }, left)).toBe(true);
      expect((await find(store, account))?.clusters).toEqual(many.slice(0, 5));
      clock.advance(unusedNameRetentionMs + 1);
      expect(await store.pruneApplication({ application: 'cart', account }, async () => nothing)).toBe(true);
      expect(await find(store, account)).toBeUndefined();
      clock.advance(unusedNameRetentionMs + 1);
      expect(await store.pruneApplication({ application: 'cart', account }, async () => nothing)).toBe(false);
      const items = await table.query('APPLICATIONS');
      expect(items.filter((item) => item['account'] === account)).toEqual([]);
    });

    it('leaves out what nothing has room for, and tells', async () => {
      const { store } = open();
      const account = newAccount();
      const huge = 'h'.repeat(350_000);
      expect(
        await store.recordApplication('cart', account, { clusters: ['small', huge], locations: ['shop'] }),
      ).toEqual([huge]);
      expect((await find(store, account))?.clusters).toEqual(['small']);
      const application = 'a'.repeat(410_000);
      await expect(
        store.recordApplication(application, account, { clusters: ['small'], locations: ['shop'] }),
      ).rejects.toThrow(ItemTooLargeError);
    });
  });

  describe('recordLocations()', () => {
    it('notes what is there in the end, although who read first writes last', async () => {
      const [account, empty] = [newAccount(), newAccount()];
      const toKey = (name: string) => ({ account, kind: 'namespace', location: '', name });
      const { store, documents } = open();
      const other = open().store;
      await store.putObject(pod(toKey('a'), v(1)));
      await store.recordLocations(account, 'namespace');
      await store.putObject(pod(toKey('b'), v(2)));
      let isLate = true;
      documents.middlewareStack.add(
        (next, context) => async (args) => {
          if (isLate && context.commandName === 'PutItemCommand') {
            isLate = false;
            await other.deleteObject(toKey('b'), v(3));
            await other.recordLocations(account, 'namespace');
          }
          return next(args);
        },
        { step: 'initialize', name: 'deleteMeanwhile' },
      );
      await store.recordLocations(account, 'namespace');
      expect(isLate).toBe(false);
      expect(await store.listLocations([account])).toEqual(new Map([[account, ['a']]]));
      const both = await store.listLocations([empty, account]);
      expect([...both]).toEqual([
        [empty, []],
        [account, ['a']],
      ]);
    });
  });

  describe('deleteAccount()', () => {
    it('removes everything of an account, step by step, and nothing of another', async () => {
      const { store, clock, table } = open();
      const [account, other] = [newAccount(), newAccount()];
      for (const each of [account, other]) {
        const keys = Array.from({ length: 60 }, (_, index) => podKey(each, `p${index}`));
        await putAll(
          store,
          keys.map((key) => pod(key, v(1))),
        );
        await store.deleteObject({ ...podKey(each, 'gone'), kind: 'service' }, v(2));
        for (const application of ['cart', 'pay']) {
          await store.recordApplication(application, each, shop);
          await store.mergeRows({ application, account: each }, [
            { view: 'v', row: 'r', changes: [put('self', 1)] },
          ]);
        }
        await store.mergeRows({ location: 'shop', account: each }, [
          { view: 'v', row: 'r', changes: [put('self', 1)] },
        ]);
        await store.recordLocations(each, 'namespace');
      }
      expect(await store.listKinds(account)).toEqual(['pod', 'service']);

      expect(await store.deleteAccount(account, { limit: 40 })).toEqual({ deleted: 40, done: false });
      expect(await store.deleteAccount(account, { limit: 40 })).toEqual({ deleted: 25, done: false });
      expect((await store.listApplications()).filter((entry) => entry.account === account)).toEqual([]);
      clock.advance(unusedNameRetentionMs + 1);
      expect(await store.deleteAccount(account)).toEqual({ deleted: 0, done: true });

      const partitions = [
        `OBJECT#${account}#pod`,
        `KINDS#${account}`,
        `ROW#cart#${account}`,
        `ROW#pay#${account}`,
        `NAMESPACE#${account}#shop`,
      ];
      for (const pk of partitions) expect(await table.query(pk)).toEqual([]);
      const noted = (await table.query('NAMESPACES')).map((item) => item['account']);
      expect([noted.includes(account), noted.includes(other)]).toEqual([false, true]);
      expect(await collect(store.listHeads(other, 'pod'))).toHaveLength(60);
      expect(await collect(store.listRows({ application: 'pay', account: other }))).toHaveLength(1);
      expect(await collect(store.listRows({ location: 'shop', account: other }))).toHaveLength(1);
      expect(await store.deleteAccount(account)).toEqual({ deleted: 0, done: true });
    });

    it('finds what a late writer cached after the first steps', async () => {
      const { store, clock } = open();
      const late = open(clock).store;
      const account = newAccount();
      await late.putObject(pod(podKey(account, 'a'), v(1)));
      await late.recordApplication('cart', account, shop);
      expect((await store.deleteAccount(account)).done).toBe(false);
      await late.putObject(pod(podKey(account, 'b'), v(2)));
      await late.mergeRows({ application: 'cart', account }, [
        { view: 'v', row: 'r', changes: [put('self', 1)] },
      ]);

      clock.advance(unusedNameRetentionMs + 1);
      expect(await store.deleteAccount(account)).toEqual({ deleted: 2, done: false });
      expect(await store.deleteAccount(account)).toEqual({ deleted: 0, done: true });
      expect(await collect(store.listHeads(account, 'pod'))).toEqual([]);
    });

    it('leaves alone what is cached anew meanwhile', async () => {
      const { store, documents } = open();
      const other = open().store;
      const key = podKey(newAccount(), 'a');
      await store.putObject(pod(key, v(1)));
      let isLate = true;
      documents.middlewareStack.add(
        (next, context) => async (args) => {
          if (isLate && context.commandName === 'DeleteItemCommand') {
            isLate = false;
            await other.putObject(pod(key, v(7, 2)));
          }
          return next(args);
        },
        { step: 'finalizeRequest', name: 'cacheMeanwhile' },
      );
      expect(await store.deleteAccount(key.account)).toMatchObject({ deleted: 0 });
      expect((await store.getObjects([key], { consistent: true }))[0]?.revision).toBe(v(7, 2));
    });
  });
}
