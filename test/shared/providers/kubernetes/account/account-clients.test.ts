import { expect, test } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import { SharedClients } from '#provider-kit/shared-clients.ts';
import { parseKubernetesAccounts } from '#providers/kubernetes/account/account.ts';
import { AccountClients } from '#providers/kubernetes/account/account-clients.ts';
import { createTestOptions } from '../../artifacts/options.ts';

/** Openings of providers in one process, with what was connected to and what was closed. */
function openProcess() {
  const clients = new SharedClients();
  const closed: string[] = [];
  let opened = 0;
  const connect = async (name: string) => {
    opened += 1;
    return {
      async [Symbol.asyncDispose]() {
        closed.push(name);
      },
    };
  };
  const open = (account: JsonObject, settings: JsonObject = {}) => {
    const all = { ...settings, kubernetes: { accounts: [{ name: 'a', ...account }] } };
    const [parsed] = parseKubernetesAccounts(all).accounts;
    if (parsed === undefined) throw new Error('no account');
    const options = createTestOptions(all, { clients });
    const own = new AccountClients(options, 'client', ({ connection }) => connect(connection.name));
    return { get: () => own.get(parsed), close: () => own[Symbol.asyncDispose]() };
  };
  return { open, closed, opened: () => opened };
}

test('an account whose connection did not change keeps its client when providers are opened anew', async () => {
  const { open, closed, opened } = openProcess();
  const before = open({ kubeconfigContents: '{}' });
  const client = await before.get();
  const after = open({ kubeconfigContents: '{}', namespaces: ['shop'], permissions: { READ: ['sre'] } });
  expect(await after.get()).toBe(client);
  await before.close();
  expect(closed).toEqual([]);
  expect(opened()).toBe(1);
  await after.close();
  expect(closed).toEqual(['a']);
});

test.each([
  ['another kubeconfig', { kubeconfigContents: '{"a": 1}' }, {}],
  ['another context', { kubeconfigContents: '{}', context: 'other' }, {}],
  [
    'another token broker',
    { kubeconfigContents: '{}' },
    { busdriver: { tokenBrokers: { arcade: { url: 'http://b' } } } },
  ],
])('%s is another client', async (_what, account, settings) => {
  const { open, opened } = openProcess();
  const before = open({ kubeconfigContents: '{}' });
  const client = await before.get();
  expect(await open(account, settings).get()).not.toBe(client);
  expect(opened()).toBe(2);
});
