import { describe, expect, it } from 'vitest';
import { createHealthStore } from '#accounts/aws/health-store.ts';
import {
  AccountBreaker,
  breakerWindowMs,
  connectionFailuresMax,
  probePauseMs,
} from '#accounts/model/account-breaker.ts';
import { type AccountHealth, healthIntervalMs } from '#accounts/model/account-health.ts';
import { ItemTable } from '#platform/aws/table.ts';
import { cacheTable } from '#platform/aws/tables.ts';
import { silentLog, TurnedClock } from '#test/shared/providers/kubernetes/client/client-setup.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';
import { testRandomness } from '#test/support/run/test-clock.ts';

const openTable = useLocalTables();
const refused = 'the connection was refused (ECONNREFUSED)';

/** What processes share, and how often each of them wrote. */
function share(clock: TurnedClock) {
  const { tableName, openDocuments } = openTable(cacheTable);
  const store = createHealthStore({ table: new ItemTable(openDocuments(), tableName), clock });
  const written: AccountHealth[] = [];
  const account = testRandomness.id();
  const counting = {
    find: store.find.bind(store),
    list: store.list.bind(store),
    async put(name: string, health: AccountHealth) {
      written.push(health);
      await store.put(name, health);
    },
  };
  const openStore = async () => counting;
  /** Sleeps of the clock would be over at once: time-outs of the store are not what this is about. */
  const unhurried = {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    sleep: (_ms: number, signal?: AbortSignal) =>
      new Promise<void>((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason))),
  };
  const openProcess = () => new AccountBreaker({ account, clock: unhurried, log: silentLog, openStore });
  return { openProcess, written, find: () => store.find(account), list: () => store.list(), account };
}

async function fail(breaker: AccountBreaker, times: number): Promise<void> {
  for (let time = 0; time < times; time += 1) await breaker.noteFailure(refused);
}

describe('the breaker of an account', () => {
  it('opens with the fifth failure in a row, and not by failures of half a minute ago', async () => {
    const clock = new TurnedClock();
    const breaker = share(clock).openProcess();
    await fail(breaker, connectionFailuresMax - 1);
    expect([breaker.isOpen, breaker.health.state]).toEqual([false, 'DEGRADED']);
    clock.turn(breakerWindowMs);
    await fail(breaker, connectionFailuresMax - 1);
    expect(breaker.isOpen).toBe(false);
    await breaker.noteAnswer();
    expect(breaker.health).toMatchObject({ state: 'UP', breaker: 'closed', lastSuccessMs: clock.now() });
    await fail(breaker, connectionFailuresMax - 1);
    expect(breaker.isOpen).toBe(false);
    await fail(breaker, 1);
    expect(breaker.isOpen).toBe(true);
    expect(breaker.health).toMatchObject({ state: 'DOWN', reason: refused, sinceMs: clock.now() });
  });

  it('has one caller ask at a time, is half open once the server is alive, and closed by an answer', async () => {
    const clock = new TurnedClock();
    const breaker = share(clock).openProcess();
    await breaker.noteDeath(refused);
    expect([breaker.takeProbe(), breaker.takeProbe()]).toEqual([false, false]);
    clock.turn(probePauseMs);
    expect([breaker.takeProbe(), breaker.takeProbe()]).toEqual([true, false]);
    await breaker.noteAlive();
    expect(breaker.health).toMatchObject({ breaker: 'half-open', state: 'DOWN' });
    await breaker.noteFailure(refused);
    expect(breaker.isOpen).toBe(true);
    await breaker.noteAlive();
    await breaker.noteAnswer();
    expect(breaker.health).toMatchObject({ breaker: 'closed', state: 'UP', sinceMs: clock.now() });
  });

  it('is open in a process that begins, and in one whose first call fails', async () => {
    const clock = new TurnedClock();
    const { openProcess } = share(clock);
    const [first, running] = [openProcess(), openProcess()];
    await running.learn();
    clock.turn(5_000);
    await fail(first, connectionFailuresMax);
    const second = openProcess();
    await second.learn();
    expect(second.health).toMatchObject({ breaker: 'open', reason: refused, sinceMs: clock.now() });
    expect(running.isOpen).toBe(false);
    await running.noteFailure(refused);
    expect(running.isOpen).toBe(true);
  });

  it('stays closed in a process that was answered after another one found nobody', async () => {
    const clock = new TurnedClock();
    const { openProcess } = share(clock);
    const [answered, failed] = [openProcess(), openProcess()];
    await answered.noteAnswer();
    await fail(failed, connectionFailuresMax);
    clock.turn(1_000);
    await answered.noteAnswer();
    await fail(answered, 1);
    expect([failed.isOpen, answered.isOpen]).toEqual([true, false]);
  });

  it('knows of answers that others had, though it could not ask for them at first, and does not deny them', async () => {
    const clock = new TurnedClock();
    const { openProcess, find } = share(clock);
    const [first, second, third] = [openProcess(), openProcess(), openProcess()];
    await second.learn();
    await first.noteAnswer();
    await settle(first);
    const lastSuccessMs = clock.now();
    expect(await second.findLastSuccessMs()).toBe(lastSuccessMs);
    clock.turn(healthIntervalMs);
    await third.noteRefusal('Unauthorized');
    await settle(third);
    expect(await find()).toMatchObject({ reason: 'Unauthorized', lastSuccessMs });
  });

  it('has credentials count as working while nobody can read when they did', async () => {
    const clock = new TurnedClock();
    const openStore = async () => {
      throw new Error('the store is away');
    };
    const options = { account: 'test', clock, log: silentLog };
    expect(await new AccountBreaker({ ...options, openStore }).findLastSuccessMs()).toBe(clock.now());
    expect(await share(clock).openProcess().findLastSuccessMs()).toBeUndefined();
  });

  it('tells changes at once, and else each five minutes, whatever the number of processes', async () => {
    const clock = new TurnedClock();
    const { openProcess, written, find } = share(clock);
    const processes = Array.from({ length: 5 }, openProcess);
    const answer = async () => {
      for (const each of processes) {
        await each.noteAnswer();
        await settle(each);
      }
    };
    await answer();
    await answer();
    expect(written).toHaveLength(1);
    const sinceMs = clock.now();
    clock.turn(healthIntervalMs);
    await answer();
    expect(written).toHaveLength(2);
    expect(await find()).toMatchObject({ state: 'UP', sinceMs, checkedAtMs: clock.now() });
    for (const each of processes) await fail(each, connectionFailuresMax + 20);
    expect(written.slice(2).map(({ breaker }) => breaker)).toEqual(['open']);
    await answer();
    expect(written.slice(3).map(({ state }) => state)).toEqual(['UP']);
  });

  it('has a refusal of its credentials shown, and none of what it is called by', async () => {
    const clock = new TurnedClock();
    const { openProcess, list, account } = share(clock);
    const breaker = openProcess();
    await breaker.noteRefusal('its API server refuses its credentials (401)');
    await settle(breaker);
    expect((await list()).get(account)).toMatchObject({ state: 'DEGRADED', breaker: 'closed' });
  });

  it('tells a warning at once, and keeps what another process warns of until that one takes it back', async () => {
    const clock = new TurnedClock();
    const { openProcess, written, find } = share(clock);
    const [warning, other] = [openProcess(), openProcess()];
    for (const each of [warning, other]) await each.noteAnswer();
    await settle(warning);
    for (const _ of [1, 2]) await warning.noteWarning('namespaces "shop" is forbidden');
    await settle(warning);
    expect(await find()).toMatchObject({ state: 'UP', warning: 'namespaces "shop" is forbidden' });
    const before = written.length;
    await fail(other, connectionFailuresMax);
    expect(await find()).toMatchObject({ state: 'DOWN', warning: 'namespaces "shop" is forbidden' });
    await other.noteAnswer();
    await warning.noteWarning('');
    await settle(warning);
    expect(await find()).toMatchObject({ state: 'UP' });
    expect(await find()).not.toHaveProperty('warning');
    expect(written.length - before).toBeLessThan(5);
  });
});

/** Waits for what is written beside the call. */
async function settle(breaker: AccountBreaker): Promise<void> {
  await breaker.learn(0);
  await new Promise((resolve) => setTimeout(resolve, 30));
}
