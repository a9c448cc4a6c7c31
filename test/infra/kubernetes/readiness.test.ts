import { expect, test } from 'vitest';
import { Readiness, readyAfterMs } from '#infra/kubernetes/readiness.ts';
import { cacheTable } from '#platform/aws/tables.ts';
import { leaseMs, openAgents, success } from '#test/contracts/agent-bench.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';
import { silentLog as log } from '#test/support/engines/silent-log.ts';

const openTable = useLocalTables();

/** A replica that begins now, with accounts whose agents are there, and have not run. */
async function startReplica(accounts: readonly string[]) {
  const { store, clock } = openAgents(openTable(cacheTable));
  const toKey = (account: string) => ({ account, name: 'core' });
  const specs = accounts.map((account) => ({
    ...toKey(account),
    provider: 'kubernetes',
    intervalMs: 30_000,
  }));
  await store.sync(specs);
  return {
    clock,
    readiness: new Readiness({ agents: store, listAccounts: async () => accounts, clock, log }),
    /** Runs the agent of an account. */
    async run(account: string, outcome: 'SUCCESS' | 'FAILURE') {
      const claim = { owner: 'worker@test', turn: 0, leaseMs, demanded: true };
      const claimed = await store.claim(toKey(account), claim);
      if (claimed === undefined) throw new Error('the agent could not be claimed');
      await store.finish(claimed.lease, { ...success(clock.now() + 30_000), outcome });
      // What is told of freshness may be a second old.
      clock.advance(1_000);
    },
  };
}

test('a replica is ready when each account was cached or has failed once, and stays so', async () => {
  const { readiness, run } = await startReplica(['prod', 'away']);
  expect(await readiness.isReady()).toBe(false);
  await run('prod', 'SUCCESS');
  expect(await readiness.isReady()).toBe(false);
  await run('away', 'FAILURE');
  expect(await readiness.isReady()).toBe(true);
});

test('it is ready a minute after its start, though nothing is known of its accounts', async () => {
  const { readiness, clock } = await startReplica(['silent']);
  clock.advance(readyAfterMs - 1_000);
  expect(await readiness.isReady()).toBe(false);
  clock.advance(1_000);
  expect(await readiness.isReady()).toBe(true);
});
