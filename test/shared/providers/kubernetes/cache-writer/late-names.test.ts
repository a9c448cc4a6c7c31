import { expect, test } from 'vitest';
import type { CacheStore } from '#caching/store/cache-store.ts';
import { unusedNameRetentionMs } from '#caching/store/recorded-names.ts';
import { cacheTable } from '#platform/aws/tables.ts';
import type { ObjectChange } from '#providers/kubernetes/cache-writer/object-change.ts';
import { newAccount } from '#test/contracts/cache-bench.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';
import { createTestClock } from '#test/support/run/test-clock.ts';
import { replicaSet } from '../caching/small-cluster.ts';
import { gone, openWriter, put } from '../caching/written-cache.ts';

const tables = useLocalTables();

const cart = replicaSet('cart-v001');

/** Two writers of one account: while the late one is about to record an application, something else may happen. */
function openLateWriter() {
  let act = async (_application: string): Promise<void> => undefined;
  const clock = createTestClock();
  const account = newAccount();
  const wrap = (store: CacheStore): CacheStore => ({
    ...store,
    async recordApplication(application, ...rest) {
      await act(application);
      return store.recordApplication(application, ...rest);
    },
  });
  const late = openWriter(tables(cacheTable), account, { clock, wrap });
  const soon = openWriter(tables(cacheTable), account, { clock });
  return {
    clock,
    soon: soon.writer,
    read: soon.read,
    /** @returns what came of `meanwhile` */
    async late<T>(story: {
      readonly application: string;
      readonly write: ObjectChange;
      readonly meanwhile: () => Promise<T>;
    }): Promise<T> {
      const outcomes: T[] = [];
      act = async (application) => {
        if (application === story.application && outcomes.length === 0)
          outcomes.push(await story.meanwhile());
      };
      await late.writer.write([story.write]);
      const [outcome] = outcomes;
      if (outcome === undefined) throw new Error(`nobody recorded ${story.application}`);
      return outcome;
    },
  };
}

test.each([
  ['alone in its application', []],
  ['of a cluster of its own', [put(replicaSet('shelf-v001', { app: 'cart', cluster: 'shelf' }), 3)]],
])('a server group %s leaves the directory even if its writer records its names late', async (_, others) => {
  const { clock, late, soon, read } = openLateWriter();
  await soon.write(others);
  const before = await read();
  const outcome = await late({
    application: 'cart',
    write: put(cart, 5),
    meanwhile: () => soon.write([gone(cart, 6)]),
  });
  expect(outcome.waiting).toEqual(['cart']);
  clock.advance(unusedNameRetentionMs);
  await soon.prune(outcome.waiting);
  expect(await read()).toEqual(before);
});
