import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CacheStore } from '#caching/store/cache-store.ts';
import { getObjectName } from '#caching/store/object-names.ts';
import { cacheTable } from '#platform/aws/tables.ts';
import { isInCluster } from '#providers/kubernetes/rows/cached-objects.ts';
import { collect, newAccount } from '#test/contracts/cache-bench.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';
import { createTestClock } from '#test/support/run/test-clock.ts';
import { openWriter, type WriterTraits } from '../caching/written-cache.ts';
import {
  arbitraryContest,
  arbitraryHistory,
  arbitraryTellings,
  type ClusterHistory,
  computeCached,
  computeNamespace,
  listTold,
  type Telling,
} from './cluster-history.ts';

const open = useLocalTables();

const minutes = 60_000;
const runs = 50;

/** A history, and how it is told. */
function arbitraryStory(histories: fc.Arbitrary<ClusterHistory>) {
  return histories.chain((history) => arbitraryTellings(history).map((tellings) => ({ history, tellings })));
}

class DeadError extends Error {}

/** The calls of a store that a writer still makes before it dies. */
function dieAfter(calls: number): (store: CacheStore) => CacheStore {
  let left = calls;
  return (store) =>
    new Proxy(store, {
      get(target, name: keyof CacheStore) {
        return (...call: unknown[]) => {
          left -= 1;
          if (left < 0) throw new DeadError('the writer is dead');
          return Reflect.apply(target[name], target, call);
        };
      },
    });
}

/** A store whose calls are made one after the other, in an order that the scheduler picks. */
function takeTurns(store: CacheStore, scheduler: fc.Scheduler): CacheStore {
  return new Proxy(store, {
    get(target, name: keyof CacheStore) {
      // It answers pages and no promise.
      if (name === 'listRows') return target.listRows;
      const take = scheduler.scheduleFunction(async (...call: unknown[]) => {
        const [result] = await Promise.allSettled([Reflect.apply(target[name], target, call)]);
        return result;
      });
      return async (...call: unknown[]) => {
        const result = await take(...call);
        if (result?.status === 'rejected') throw result.reason;
        return result?.value;
      };
    },
  });
}

/** One account, whose history several writers tell. */
function openStory({
  history,
  allApplicationRelationships,
}: {
  history: ClusterHistory;
  allApplicationRelationships: boolean;
}) {
  const account = newAccount();
  const clock = createTestClock();
  const waiting = new Set<string>();
  const openOne = (traits: WriterTraits = {}) =>
    openWriter(open(cacheTable), account, { clock, allApplicationRelationships, ...traits });
  const bench = openOne();
  return {
    account,
    bench,
    async tell(telling: Telling, wrap: (store: CacheStore) => CacheStore = (store) => store) {
      const { diesAfter, isRepeatedLater } = telling;
      if (diesAfter !== undefined) {
        const { writer } = openOne({ wrap: (store) => dieAfter(diesAfter)(wrap(store)) });
        try {
          const outcome = await writer.write(listTold(history, telling));
          for (const each of outcome.waiting) waiting.add(each);
          return;
        } catch (error) {
          if (!(error instanceof DeadError)) throw error;
        }
      }
      const { writer } = openOne({ wrap });
      const again = diesAfter !== undefined && isRepeatedLater;
      const outcome = await writer.write(listTold(history, telling, again));
      for (const each of outcome.waiting) waiting.add(each);
    },
    /** Ends the story, and compares what is cached. */
    async check() {
      clock.advance(6 * minutes);
      await bench.writer.prune([...waiting]);
      expect(await bench.read()).toEqual(computeCached(history, { allApplicationRelationships }));
      expect(await bench.readNamespace('shop')).toEqual(computeNamespace(history));
      await expectHeads(bench.store, { account, history });
    },
    look: makeLook(bench.store, account),
  };
}

/** What is stored of each object is what the history ends with. */
async function expectHeads(
  store: CacheStore,
  { account, history }: { readonly account: string; readonly history: ClusterHistory },
): Promise<void> {
  for (const kind of await store.listKinds(account)) {
    for (const head of await collect(store.listHeads(account, kind, { withGone: true }))) {
      expect(head.leaving, getObjectName(head.key)).toBeUndefined();
      const last = history.findLast((change) => getObjectName(change) === getObjectName(head.key));
      expect(head.revision).toBe(last?.revision);
      expect(head.gone).toBe(last?.facts === undefined);
      const { facts } = last ?? {};
      const isClustered = facts && head.application !== undefined && isInCluster(facts.spinnakerKind);
      expect(head.cluster).toBe(isClustered ? facts.moniker.cluster : undefined);
    }
  }
}

/** Makes what looks at the rows: nothing in them may be older than at an earlier look, or back after it was gone. */
function makeLook(store: CacheStore, account: string): () => Promise<void> {
  const seen = new Map<string, string>();
  const lost = new Set<string>();
  const places = [{ application: 'cart' }, { application: 'shop' }, { location: 'shop' }];
  return async () => {
    const live = new Map<string, string>();
    for (const place of places) {
      const rows = await collect(store.listRows({ ...place, account }, { consistent: true }));
      for (const { view, row, read } of rows) {
        for (const [key, { revision }] of read())
          live.set([...Object.values(place), view, row, key].join(' '), revision);
      }
    }
    for (const [entry, revision] of live) {
      const before = seen.get(entry) ?? '';
      const isLater = lost.has(entry) ? revision > before : revision >= before;
      expect(isLater, `${entry} at ${revision} after ${before}`).toBe(true);
      seen.set(entry, revision);
    }
    for (const entry of seen.keys()) {
      if (live.has(entry)) lost.delete(entry);
      else lost.add(entry);
    }
  };
}

describe('what is cached in the end', () => {
  test('is what is in the cluster, however it is told and whenever writers die', {
    timeout: 600_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(
        arbitraryStory(fc.oneof(arbitraryHistory, arbitraryContest)),
        fc.boolean(),
        async ({ history, tellings }, allApplicationRelationships) => {
          const story = openStory({ history, allApplicationRelationships });
          for (const telling of tellings) {
            await story.tell(telling);
            await story.look();
          }
          await story.check();
        },
      ),
      { numRuns: runs },
    );
  });

  test('is what is in the cluster when two write at a time', { timeout: 600_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(
        arbitraryStory(arbitraryContest),
        fc.scheduler(),
        async ({ history, tellings }, scheduler) => {
          const story = openStory({ history, allApplicationRelationships: false });
          const wrap = (store: CacheStore): CacheStore => takeTurns(store, scheduler);
          const work = async (own: readonly Telling[]): Promise<void> => {
            for (const telling of own) await story.tell(telling, wrap);
          };
          const writers = [0, 1].map((writer) =>
            work(tellings.filter((telling) => telling.writer === writer)),
          );
          await scheduler.waitFor(Promise.all(writers));
          await story.check();
        },
      ),
      { numRuns: runs },
    );
  });
});
