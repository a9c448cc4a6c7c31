import { expect, test } from 'vitest';
import { cacheTable } from '#platform/aws/tables.ts';
import { add, claim, newSpec, openAgents, removeAgents, success } from '#test/contracts/agent-bench.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';

const open = useLocalTables();

test('tells how fresh accounts are, few by few and many at once alike', async () => {
  const bench = openAgents(open(cacheTable));
  const { store, clock } = bench;
  const specs = Array.from({ length: 300 }, () => newSpec());
  const [run, failed, removed, double] = specs;
  if (!run || !failed || !removed || !double) throw new Error('there are 300');
  const second = { ...double, name: 'other' };
  await add(bench, ...specs, second);
  const asOfMs = clock.now() - 7_000;
  for (const spec of [run, double, second]) {
    const ended = success(clock.now() + 30_000, { asOfMs: spec === second ? asOfMs - 1_000 : asOfMs });
    await store.finish((await claim(bench, spec)).lease, ended);
  }
  await store.finish((await claim(bench, failed)).lease, {
    ...success(clock.now() + 30_000),
    outcome: 'FAILURE',
  });
  await removeAgents(bench, removed);

  const accounts = specs.map(({ account }) => account);
  const all = await store.readFreshness([...accounts, 'nobody']);
  const single = new Map<string, unknown>();
  for (const account of [run, failed, removed, double].map((spec) => spec.account)) {
    const [found] = await store.readFreshness([account]);
    if (found !== undefined) single.set(...found);
  }

  expect(all.size).toBe(299);
  for (const [account, freshness] of single) expect(all.get(account)).toEqual(freshness);
  expect(all.get(run.account)).toEqual({
    asOfMs,
    isStale: false,
    tooLarge: 0,
    triedAtMs: expect.any(Number),
    agents: [{ account: run.account, name: 'core' }],
  });
  expect(all.get(double.account)).toMatchObject({ asOfMs: asOfMs - 1_000, agents: [{}, {}] });
  expect(all.get(failed.account)).toMatchObject({ asOfMs: undefined, isStale: true });
  expect([all.has(removed.account), single.has(removed.account)]).toEqual([false, false]);
});
