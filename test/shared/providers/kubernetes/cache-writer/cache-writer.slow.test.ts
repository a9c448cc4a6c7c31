import { describe, expect, test } from 'vitest';
import { type CacheStore, RowContendedError } from '#caching/store/cache-store.ts';
import { unusedNameRetentionMs } from '#caching/store/recorded-names.ts';
import { cacheTable } from '#platform/aws/tables.ts';
import { countRequests, newAccount, v } from '#test/contracts/cache-bench.ts';
import { largePayload } from '#test/contracts/store-bench.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';
import type { StoreTestClient } from '#test/support/engines/store-test-client.ts';
import { createTestClock } from '#test/support/run/test-clock.ts';
import { object, pod, replicaSet, service } from '../caching/small-cluster.ts';
import { gone, openWriter, put, type WriterTraits } from '../caching/written-cache.ts';

const tables = useLocalTables();

function open(traits?: WriterTraits) {
  return openWriter(tables(cacheTable), newAccount(), traits);
}

const cart = replicaSet('cart-v001');
const cartRow = 'serverGroups replicaSet shop cart-v001';

describe('pods', () => {
  test('stand with their owner, whatever application they are said to belong to', async () => {
    const { writer, read } = open();
    const outcome = await writer.write([
      put(pod('cart-v001-a', 'cart-v001', { app: 'other' }), 6),
      put(pod('cart-v001-b', 'cart-v001', { app: '' }), 7),
      put(cart, 5),
    ]);
    expect(outcome).toEqual({ changes: 3, waiting: [], dropped: [] });
    expect(await read()).toEqual({
      cart: {
        clusters: ['cart'],
        namespaces: ['shop'],
        rows: { [cartRow]: ['pod cart-v001-a@6', 'pod cart-v001-b@7', 'self@5'] },
      },
    });
  });

  test.each(['statefulSet', 'daemonSet', 'job'])('stand with a %s', async (ownerKind) => {
    const { writer, read } = open();
    await writer.write([
      put(pod('db-0', 'db', { ownerKind }), 2),
      put(replicaSet('db', { kind: ownerKind }), 1),
    ]);
    const { db } = await read();
    expect(db?.rows).toEqual({ [`serverGroups ${ownerKind} shop db`]: ['pod db-0@2', 'self@1'] });
  });

  test('are found by an owner that comes later, also by one of another application', async () => {
    const { writer, read } = open();
    await writer.write([put(pod('cart-v001-a', 'cart-v001', { app: 'other' }), 6)]);
    expect(await read()).toEqual({});
    await writer.write([put(cart, 5)]);
    expect((await read())['cart']?.rows).toEqual({ [cartRow]: ['pod cart-v001-a@6', 'self@5'] });
  });

  test('are found by very many owners that come later', async () => {
    const { writer, read } = open();
    const names = Array.from({ length: 30 }, (_, index) => `cart-v${100 + index}`);
    await writer.write(names.map((name, index) => put(pod(`${name}-a`, name), 100 + index)));
    await writer.write(names.map((name, index) => put(replicaSet(name), 1 + index)));
    const rows = Object.values((await read())['cart']?.rows ?? {});
    expect(rows).toHaveLength(30);
    expect(rows.every((entries) => entries.length === 2)).toBe(true);
  });

  test('of no server group are in no row', async () => {
    const { writer, read, store, account } = open();
    await writer.write([put(pod('cart'), 1), put(pod('cart-node', 'node-1', { ownerKind: 'Node' }), 2)]);
    expect(await read()).toEqual({});
    const key = { account, kind: 'pod', location: 'shop', name: 'cart' };
    expect((await store.getObjects([key]))[0]?.revision).toBe(v(1));
  });

  test('leave the row when nobody owns them any more', async () => {
    const { writer, read } = open();
    await writer.write([put(cart, 1), put(pod('cart-v001-a', 'cart-v001'), 2)]);
    await writer.write([put(pod('cart-v001-a'), 3)]);
    expect((await read())['cart']?.rows).toEqual({ [cartRow]: ['self@1'] });
    await writer.write([put(pod('cart-v001-a', 'cart-v001'), 4)]);
    expect((await read())['cart']?.rows).toEqual({ [cartRow]: ['pod cart-v001-a@4', 'self@1'] });
  });

  test('may be gone at the revision that they had, whoever has their owner by then', async () => {
    const { writer, read } = open();
    await writer.write([put(cart, 1), put(pod('cart-v001-a', 'cart-v001'), 2)]);
    await writer.write([put(replicaSet('cart-v001', { app: 'shop' }), 3)]);
    await writer.write([gone(pod('cart-v001-a', 'cart-v001'), 2)]);
    expect((await read())['shop']?.rows).toEqual({ [cartRow]: ['self@3'] });
  });

  test('come to another owner, and leave the one before', async () => {
    const { writer, read, readNamespace } = open();
    await writer.write([put(cart, 1), put(pod('cart-a', 'cart-v001'), 2), put(replicaSet('cart-v002'), 3)]);
    await writer.write([put(pod('cart-a', 'cart-v002'), 4)]);
    expect(await readNamespace('shop')).toEqual({ 'pods replicaSet shop cart-v002': ['pod cart-a@4'] });
    expect((await read())['cart']?.rows).toEqual({
      [cartRow]: ['self@1'],
      'serverGroups replicaSet shop cart-v002': ['pod cart-a@4', 'self@3'],
    });
  });

  test('come to another owner whenever the writer dies over it, if it is repeated', async () => {
    for (let calls = 0; calls < 5; calls += 1) {
      const { account, writer, readNamespace } = open();
      await writer.write([put(pod('cart-a', 'cart-v001'), 2)]);
      let left = calls;
      const wrap = (store: CacheStore): CacheStore => {
        const use = (): CacheStore => {
          left -= 1;
          if (left < 0) throw new Error('the writer is dead');
          return store;
        };
        return {
          ...store,
          getObjects: async (...call) => use().getObjects(...call),
          putObject: async (...call) => use().putObject(...call),
          mergeRows: async (...call) => use().mergeRows(...call),
        };
      };
      const dying = openWriter(tables(cacheTable), account, { wrap }).writer;
      await dying.write([put(pod('cart-a', 'cart-v002'), 4)]).catch(() => undefined);
      await writer.write([put(pod('cart-a', 'cart-v002'), 4)]);
      expect(await readNamespace('shop')).toEqual({ 'pods replicaSet shop cart-v002': ['pod cart-a@4'] });
    }
  });

  test('are with their owner again when it is cached again', async () => {
    const { writer, read } = open();
    await writer.write([put(cart, 1), put(pod('cart-v001-a', 'cart-v001'), 2)]);
    for (const at of [10, 20]) {
      await writer.write([gone(cart, at)]);
      expect((await read())['cart']).toBeUndefined();
      await writer.write([put(cart, at + 1)]);
      expect((await read())['cart']?.rows).toEqual({ [cartRow]: ['pod cart-v001-a@2', `self@${at + 1}`] });
    }
  });
});

test('services share few rows of their namespace, in which others are not', async () => {
  const { writer, readNamespace } = open();
  const names = Array.from({ length: 100 }, (_, index) => `cart-${index}`);
  await writer.write([
    ...names.map((name, index) => put(service(name), 1 + index)),
    put(service('far', { namespace: 'elsewhere', app: '' }), 200),
    put(object('ingress', 'cart'), 201),
  ]);
  const rows = await readNamespace('shop');
  expect(Object.keys(rows).length).toBeLessThanOrEqual(16);
  expect(Object.values(rows).flat().sort()).toEqual(
    names.map((name, index) => `service ${name}@${1 + index}`).sort(),
  );
  await writer.write([gone(service('far', { namespace: 'elsewhere' }), 300)]);
  expect(await readNamespace('elsewhere')).toEqual({});
});

describe('an application', () => {
  test('takes a server group over with its pods, and gives it back', async () => {
    const { writer, read } = open();
    await writer.write([put(cart, 1), put(pod('cart-v001-a', 'cart-v001'), 2)]);
    for (const at of [10, 20]) {
      const moved = await writer.write([put(replicaSet('cart-v001', { app: 'shop' }), at)]);
      expect(moved.waiting).toEqual(['cart']);
      expect(await read()).toEqual({
        shop: {
          clusters: ['cart'],
          namespaces: ['shop'],
          rows: { [cartRow]: ['pod cart-v001-a@2', `self@${at}`] },
        },
      });
      await writer.write([put(cart, at + 1)]);
      expect((await read())['cart']?.rows).toEqual({ [cartRow]: ['pod cart-v001-a@2', `self@${at + 1}`] });
    }
  });

  test('leaves the directory with its last object', async () => {
    const { writer, read, clock, store, account } = open();
    await writer.write([put(cart, 1), put(service('cart'), 2)]);
    const first = await writer.write([gone(cart, 3)]);
    expect(first.waiting).toEqual(['cart']);
    expect((await read())['cart']).toMatchObject({ clusters: [], namespaces: ['shop'] });
    await writer.write([gone(service('cart'), 4)]);
    expect(await read()).toEqual({});
    expect(await writer.prune(['cart'])).toEqual(['cart']);
    clock.advance(unusedNameRetentionMs + 1_000);
    expect(await writer.prune(['cart'])).toEqual([]);
    await store.deleteAccount(account);
    clock.advance(unusedNameRetentionMs + 1_000);
    expect(await store.deleteAccount(account)).toMatchObject({ done: true });
  });

  test('keeps the names that others of its objects have, without a second look', async () => {
    const { writer, read } = open();
    await writer.write([put(cart, 1), put(replicaSet('cart-v002'), 2)]);
    expect((await writer.write([gone(cart, 3)])).waiting).toEqual([]);
    expect((await read())['cart']).toMatchObject({ clusters: ['cart'], namespaces: ['shop'] });
  });

  test('loses a cluster whose server group is in another one now', async () => {
    const { writer, read } = open();
    const manager = object('deployment', 'cart', { cluster: 'deployment cart' });
    await writer.write([put(manager, 1), put(replicaSet('cart-v001', { cluster: 'blue' }), 2)]);
    await writer.write([put(replicaSet('cart-v001', { cluster: 'green' }), 3)]);
    expect((await read())['cart']?.clusters).toEqual(['deployment cart', 'green']);
  });

  test('has a row for each of its objects in the view of its class', async () => {
    const objects = [
      object('deployment', 'cart'),
      service('cart'),
      object('networkPolicy', 'cart'),
      object('configMap', 'cart'),
      object('clusterRole', 'cart', { namespace: '' }),
    ];
    const few = open();
    await few.writer.write(objects.map((each, index) => put(each, index + 1)));
    expect(Object.keys((await few.read())['cart']?.rows ?? {})).toEqual([
      'loadBalancers service shop cart',
      'managers deployment shop cart',
      'securityGroups networkPolicy shop cart',
    ]);
    const all = open({ allApplicationRelationships: true });
    await all.writer.write([...objects, pod('cart')].map((each, index) => put(each, index + 1)));
    expect(Object.keys((await all.read())['cart']?.rows ?? {})).toEqual([
      'loadBalancers service shop cart',
      'managers deployment shop cart',
      'resources clusterRole  cart',
      'resources configMap shop cart',
      'resources pod shop cart',
      'securityGroups networkPolicy shop cart',
    ]);
  });
});

describe('a write', () => {
  test('that comes late changes nothing, not even in rows', async () => {
    const { writer, read } = open();
    await writer.write([put(replicaSet('cart-v001', { app: 'shop' }), 9), gone(service('cart'), 9)]);
    const before = await read();
    expect(await writer.write([put(cart, 3), put(service('cart'), 4)])).toMatchObject({ changes: 0 });
    expect(await read()).toEqual(before);
  });

  test('of several changes of one object is that of the last, in whatever order they come', async () => {
    const { writer, read } = open();
    const changes = [
      put(cart, 3),
      gone(service('cart'), 9),
      put(cart, 5),
      put(cart, 4),
      put(service('cart'), 8),
    ];
    expect(await writer.write(changes)).toMatchObject({ changes: 1 });
    expect(await read()).toMatchObject({ cart: { rows: { [cartRow]: ['self@5'] } } });
  });

  test('of one pod among many server groups costs as much as of one among few', async () => {
    const { writer, documents } = open();
    const names = Array.from({ length: 200 }, (_, index) => `cart-v${100 + index}`);
    await writer.write(
      names.flatMap((name, index) => [
        put(replicaSet(name), 2 * index + 1),
        put(pod(`${name}-a`, name), 2 * index + 2),
      ]),
    );
    const requests = countRequests(documents);
    await writer.write([put(pod('cart-v150-a', 'cart-v150'), 1_000)]);
    // The pod, nothing of its owner, and its row.
    expect(requests.take()).toEqual({ GetItem: 1, PutItem: 2, Query: 1 });
    await writer.write([put(pod('cart-v150-a', 'cart-v150'), 1_000)]);
    expect(requests.take()).toEqual({ GetItem: 1, Query: 1 });
  });

  test('of very many server groups write each object once, and each bucket of rows once', async () => {
    const { writer, documents, read } = open();
    await writer.write([put(cart, 1), put(pod('cart-v001-a', 'cart-v001'), 2)]);
    const requests = countRequests(documents);
    const names = Array.from({ length: 300 }, (_, index) => `cart-v${100 + index}`);
    const outcome = await writer.write(
      names.flatMap((name, index) => [
        put(pod(`${name}-a`, name), 2 * index + 2),
        put(replicaSet(name), 2 * index + 1),
      ]),
    );
    expect(outcome.changes).toBe(600);
    // 64 buckets of the application and of the namespace, and the name of the former.
    expect(requests.take()['PutItem']).toBeLessThanOrEqual(600 + 129);
    const rows = Object.values((await read())['cart']?.rows ?? {});
    expect(rows.filter((entries) => entries.length === 2)).toHaveLength(301);
  });

  test('of a write that died half-way may be repeated with what became of it', async () => {
    const { writer, read } = open();
    await writer.write([put(cart, 1), put(pod('cart-v001-a', 'cart-v001'), 2)]);
    await writer.write([put(replicaSet('cart-v001', { app: 'shop' }), 3), put(service('cart'), 4)]);
    expect(await read()).toMatchObject({
      shop: { rows: { [cartRow]: ['pod cart-v001-a@2', 'self@3'] } },
      cart: { clusters: [], rows: { 'loadBalancers service shop cart': ['self@4'] } },
    });
  });

  test('leaves out what is too large, and says so', async () => {
    const { writer, read } = open();
    const huge = { ...service('huge'), labels: { huge: JSON.stringify(largePayload(1e6)) } };
    const outcome = await writer.write([put(cart, 1), put(huge, 2), put(service('cart'), 3)]);
    expect(outcome).toEqual({ changes: 2, waiting: [], dropped: ['service huge in shop'] });
    expect(Object.keys((await read())['cart']?.rows ?? {})).toHaveLength(2);
  });

  test('waits for others who write the same rows', async () => {
    let refusals = 2;
    const wrap = (store: CacheStore): CacheStore => ({
      ...store,
      async mergeRows(...call) {
        refusals -= 1;
        if (refusals >= 0) throw new RowContendedError('others were faster');
        return store.mergeRows(...call);
      },
    });
    const { writer, read } = open({ wrap });
    await writer.write([put(cart, 1)]);
    expect((await read())['cart']?.rows).toEqual({ [cartRow]: ['self@1'] });
  });

  test('stops when it is told to, with the reason', async () => {
    const stop = new AbortController();
    const wrap = (store: CacheStore): CacheStore => ({
      ...store,
      async putObject(...call) {
        stop.abort(new Error('the lease is lost'));
        return store.putObject(...call);
      },
    });
    const { writer, read } = open({ wrap });
    await expect(
      writer.write([put(cart, 1)], { ensureHeld: () => stop.signal.throwIfAborted() }),
    ).rejects.toThrow('the lease is lost');
    expect(await read()).toEqual({});
    await writer.write([put(cart, 1)]);
    expect((await read())['cart']?.rows).toEqual({ [cartRow]: ['self@1'] });
  });
});

describe('a throttled store', () => {
  const hasty = { ...createTestClock(), sleep: async () => undefined };

  test('is asked again, and everything is written', async () => {
    const { writer, read, documents } = open({ clock: hasty });
    const seen = new Set<string>();
    throttle(documents, (command) => {
      if (seen.has(command)) return false;
      seen.add(command);
      return true;
    });
    const outcome = await writer.write([put(cart, 1), put(pod('cart-v001-a', 'cart-v001'), 2)]);
    expect(outcome.changes).toBe(2);
    expect((await read())['cart']?.rows).toEqual({ [cartRow]: ['pod cart-v001-a@2', 'self@1'] });
    expect([...seen]).toEqual(
      expect.arrayContaining(['BatchGetItemCommand', 'PutItemCommand', 'QueryCommand']),
    );
  });

  test('is not asked for ever', async () => {
    const { writer, documents } = open({ clock: hasty });
    let refused = 0;
    throttle(documents, (command) => {
      if (command === 'PutItemCommand') refused += 1;
      return command === 'PutItemCommand';
    });
    await expect(writer.write([put(cart, 1)])).rejects.toThrow('slow down');
    expect(refused).toBe(6);
  });

  /** Refuses calls as DynamoDB does, after its client has given up. */
  function throttle(documents: StoreTestClient, isRefused: (command: string) => boolean): void {
    documents.middlewareStack.add(
      (next, { commandName = '' }) =>
        async (args) => {
          if (!isRefused(commandName)) return next(args);
          throw Object.assign(new Error('slow down'), { name: 'ProvisionedThroughputExceededException' });
        },
      { step: 'initialize', name: 'throttle' },
    );
  }
});
