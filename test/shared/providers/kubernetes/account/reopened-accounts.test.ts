import { expect, it } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import { SharedClients } from '#provider-kit/shared-clients.ts';
import { KubernetesSession } from '#providers/kubernetes/account/session.ts';
import { createTestClock, createTestLog, createTestOptions } from '../../artifacts/options.ts';

/** How often members of a definition were asked for. */
interface Looks {
  count: number;
}

/** A definition of an account that counts looks at its options: to read it is what opening an account costs. */
function define(name: string, looks: Looks): JsonObject {
  const body = { type: 'kubernetes', name, kubeconfigContents: '{}', namespaces: ['shop'] };
  return new Proxy<JsonObject>(body, {
    get(target, key) {
      if (key === 'kubeconfigContents') looks.count += 1;
      return Reflect.get(target, key);
    },
  });
}

it('of a thousand accounts those that changed are read anew, and no other', () => {
  const clock = createTestClock();
  const clients = new SharedClients();
  const open = (stored: readonly JsonObject[]): KubernetesSession => {
    const options = createTestOptions({}, { clock, log: createTestLog() });
    return new KubernetesSession({ ...options, clients, accounts: { stored } });
  };
  const looks: Looks = { count: 0 };
  const before = Array.from({ length: 1_000 }, (_, index) => define(`account-${index}`, looks));
  const first = open(before);
  const looksEach = looks.count / before.length;
  looks.count = 0;

  const second = open(before.with(500, define('account-500', looks)));

  expect(looksEach).toBeGreaterThan(0);
  expect(looks.count).toBe(looksEach);
  const kept = second.accounts.filter((account, index) => account === first.accounts[index]);
  expect([first.accounts.length, second.accounts.length, kept.length]).toEqual([1_000, 1_000, 999]);
});
