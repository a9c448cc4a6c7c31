import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Clock } from '#core/clock.ts';
import { cacheTable } from '#platform/aws/tables.ts';
import { systemClock } from '#platform/services/system.ts';
import { openCache } from '#test/contracts/cache-bench.ts';
import {
  createNamespace,
  describeWithCluster,
  findObject,
  requestApi,
} from '#test/support/cluster/cluster.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';
import { createTestClock } from '#test/support/run/test-clock.ts';
import { defineTrams, definitions } from '../live.ts';
import { openWatchBench, until } from './watch-bench.ts';

const openTable = useLocalTables();

/** The machine's clock, but for the half-minutes after which the kinds are looked at. */
const hastyClock: Clock = {
  ...systemClock,
  sleep: (ms, signal) => systemClock.sleep(ms === 30_000 ? 300 : ms, signal),
};

describeWithCluster('watching custom kinds', () => {
  it.each([
    ['whose definition comes', undefined],
    ['that is told of a moment before it is served', 'Tram'],
  ])(
    'begins with a kind %s, and evicts it when that goes',
    async (_, lateKind) => {
      await using namespace = await createNamespace('watch');
      const group = `${randomBytes(4).toString('hex')}.example.com`;
      const kind = `Tram.${group}`;
      const { store: cache } = openCache(openTable(cacheTable), createTestClock());
      await using bench = openWatchBench({
        cache,
        clock: hastyClock,
        ...(lateKind === undefined ? {} : { lateKind }),
        family: 'custom',
        account: { namespaces: [namespace.name] },
        settings: { kubernetes: { cache: { cacheKinds: [kind] } } },
      });
      const countCached = async (): Promise<number> => {
        let count = 0;
        for await (const heads of cache.listHeads(bench.account, kind)) count += heads.length;
        return count;
      };
      const watched = bench.watch();
      await until(() => watched.progress !== undefined);

      const path = `/apis/${group}/v1/namespaces/${namespace.name}/trams`;
      await defineTrams(group);
      await until(async () => (await findObject(path)) !== undefined);
      await requestApi('POST', path, { apiVersion: `${group}/v1`, kind: 'Tram', metadata: { name: 'one' } });
      await until(async () => (await countCached()) === 1);
      await requestApi('POST', path, { apiVersion: `${group}/v1`, kind: 'Tram', metadata: { name: 'two' } });
      await until(async () => (await countCached()) === 2);

      await requestApi('DELETE', `${definitions}/trams.${group}`);
      await until(async () => (await countCached()) === 0, { withinMs: 40_000 });
      expect(watched.progress?.error).toBeUndefined();
      await watched.stop().catch(() => undefined);
    },
    90_000,
  );
});
