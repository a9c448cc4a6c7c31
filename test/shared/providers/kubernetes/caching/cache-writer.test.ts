import { describe, expect, test } from 'vitest';
import { cacheTable } from '../../../../../shared/aws/tables.ts';
import { newAccount } from '../../../../contracts/cache-bench.ts';
import { useLocalTables } from '../../../../support/local-tables.ts';
import { pod, replicaSet, service } from './small-cluster.ts';
import { gone, openWriter, put } from './written-cache.ts';

const open = useLocalTables();

describe('a cache writer', () => {
  test('puts pods into the row of their owner', async () => {
    const bench = openWriter(open(cacheTable), newAccount());
    await bench.writer.write([
      put(replicaSet('cart-v001', { app: 'cart' }), 5),
      put(pod('cart-v001-a', 'cart-v001', { app: 'other' }), 6),
      put(service('cart'), 7),
    ]);
    expect(await bench.read()).toEqual({
      cart: {
        clusters: ['cart'],
        namespaces: ['shop'],
        rows: {
          'loadBalancers service shop cart': ['self@7'],
          'serverGroups replicaSet shop cart-v001': ['pod cart-v001-a@6', 'self@5'],
        },
      },
    });
    await bench.writer.write([gone(pod('cart-v001-a', 'cart-v001'), 8), gone(replicaSet('cart-v001'), 9)]);
    expect(await bench.read()).toEqual({
      cart: { clusters: [], namespaces: ['shop'], rows: { 'loadBalancers service shop cart': ['self@7'] } },
    });
  });
});
