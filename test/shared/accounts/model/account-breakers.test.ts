import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { createHealthStore } from '#accounts/aws/health-store.ts';
import { type AccountBreaker, AccountBreakers } from '#accounts/model/account-breaker.ts';
import { findJoinedHealth, joinRegions } from '#accounts/model/regional-health.ts';
import { ItemTable } from '#platform/aws/table.ts';
import { cacheTable } from '#platform/aws/tables.ts';
import { systemClock } from '#platform/services/system.ts';
import { silentLog } from '#test/shared/providers/kubernetes/client/client-setup.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

it('is the same for everybody who has it, until it leads elsewhere', async () => {
  const breakers = new AccountBreakers({ clock: systemClock, log: silentLog });
  const held = breakers.get('prod', 'here');
  await held.noteDeath('it is away');
  collectGarbage();

  expect(breakers.get('prod', 'here')).toBe(held);
  expect(breakers.get('prod', 'there').isOpen).toBe(false);
});

const openTable = useLocalTables();

it('of a region leaves the others of its account alone, and all together are its health', async () => {
  const { tableName, openDocuments } = openTable(cacheTable);
  const store = createHealthStore({
    table: new ItemTable(openDocuments(), tableName),
    clock: systemClock,
  });
  const breakers = new AccountBreakers({ clock: systemClock, log: silentLog, openStore: async () => store });
  const east = breakers.get('prod', 'aws', 'us-east-1');
  const west = breakers.get('prod', 'aws', 'us-west-2');
  await east.noteDeath('it is away');
  await west.noteAnswer();
  await breakers.get('a/b', 'here').noteDeath('it is away');

  expect([east.isOpen, west.isOpen, breakers.get('prod', 'aws').isOpen]).toEqual([true, false, false]);
  expect(breakers.get('prod', 'aws', 'us-east-1')).toBe(east);
  await expect
    .poll(() => findJoinedHealth(store, 'prod'))
    .toMatchObject({ state: 'DEGRADED', reason: 'us-east-1: it is away', breaker: 'closed' });
  // An account may have such a name.
  expect(joinRegions(await store.list()).get('a/b')).toMatchObject({ state: 'DOWN', reason: 'it is away' });
  await west.noteDeath('it is away, too');
  expect(await findJoinedHealth(store, 'prod')).toMatchObject({ state: 'DOWN', breaker: 'open' });
  expect(await findJoinedHealth(store, 'unheard-of')).toBeUndefined();
});

it('keeps none of an account that nobody uses any more', async () => {
  const breakers = new AccountBreakers({ clock: systemClock, log: silentLog });
  const seen = [...Array(100).keys()].map((index) => new WeakRef(breakers.get(`passing-${index}`, 'here')));
  // What a turn of the event loop made or looked up is kept until its end.
  await sleep(0);
  collectGarbage();

  expect(seen.map((breaker): AccountBreaker | undefined => breaker.deref()).filter(Boolean)).toEqual([]);
  expect(breakers.get('passing-0', 'here').isOpen).toBe(false);
});
