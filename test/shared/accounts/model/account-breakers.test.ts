import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { type AccountBreaker, AccountBreakers } from '#accounts/model/account-breaker.ts';
import { systemClock } from '#platform/services/system.ts';
import { silentLog } from '#test/shared/providers/kubernetes/client/client-setup.ts';

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

it('keeps none of an account that nobody uses any more', async () => {
  const breakers = new AccountBreakers({ clock: systemClock, log: silentLog });
  const seen = [...Array(100).keys()].map((index) => new WeakRef(breakers.get(`passing-${index}`, 'here')));
  // What a turn of the event loop made or looked up is kept until its end.
  await sleep(0);
  collectGarbage();

  expect(seen.map((breaker): AccountBreaker | undefined => breaker.deref()).filter(Boolean)).toEqual([]);
  expect(breakers.get('passing-0', 'here').isOpen).toBe(false);
});
