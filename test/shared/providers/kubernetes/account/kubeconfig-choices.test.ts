import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import type { SettingsInspector } from '#provider-kit/provider.ts';
import { parseKubernetesAccounts } from '#providers/kubernetes/account/account.ts';
import { createKubeconfigInspector } from '#providers/kubernetes/account/kubeconfig-choices.ts';
import { makeTempDir, type TempDir } from '#test/support/run/temp-dir.ts';

const kubeconfig = JSON.stringify({
  'current-context': 'one',
  clusters: [{ name: 'c', cluster: { server: 'https://c' } }],
  users: [
    { name: 'ci', user: { token: 'planted' } },
    { name: 'admin', user: { token: 'planted' } },
  ],
  contexts: [{ name: 'one', context: { cluster: 'c', user: 'ci' } }],
});

let dir: TempDir;
let inspector: SettingsInspector;

beforeEach(async () => {
  dir = await makeTempDir();
  inspector = createKubeconfigInspector();
});
afterEach(() => dir[Symbol.asyncDispose]());

function inspect(accounts: readonly JsonObject[], placement: 'local' | 'deployed' = 'local') {
  const settings = { kubernetes: { accounts: [...accounts] } };
  return inspector.findUnusable(settings, { placement, environment: { HOME: dir.path } });
}

const missing = 'kubernetes.accounts[0].user: user "ops" does not exist (it has "ci", "admin")';

describe('an account whose kubeconfig lacks what it names', () => {
  test('is found by contents, wherever functions run', async () => {
    const account = { name: 'a', 'kubeconfig-contents': kubeconfig, User: 'ops' };
    for (const placement of ['local', 'deployed'] as const)
      expect(await inspect([account], placement)).toEqual([{ name: 'a', reason: missing }]);
    expect(await inspect([{ ...account, User: 'admin', cluster: 'd', context: 'one' }])).toEqual([
      { name: 'a', reason: 'kubernetes.accounts[0].cluster: cluster "d" does not exist (it has "c")' },
    ]);
    expect(await inspect([{ ...account, User: 'admin', cluster: 'c' }])).toEqual([]);
  });

  test('is found by a file of this machine, until that is mended', async () => {
    const file = join(dir.path, 'kube');
    const accounts = [{ name: 'a', kubeconfigFile: '~/kube', user: 'ops' }];
    expect(await inspect(accounts)).toEqual([]);
    await writeFile(file, kubeconfig);
    expect(await inspect(accounts)).toEqual([{ name: 'a', reason: missing }]);
    expect(await inspect(accounts)).toEqual([{ name: 'a', reason: missing }]);
    expect(await inspect(accounts, 'deployed')).toEqual([]);
    await writeFile(file, kubeconfig.replaceAll('admin', 'ops'));
    expect(await inspect(accounts)).toEqual([]);
  });

  test('is left out alone, and its name stays taken', () => {
    const accounts = [
      { name: 'a', kubeconfigContents: kubeconfig },
      { name: 'b', kubeconfigContents: kubeconfig },
      { name: 'a', kubeconfigContents: kubeconfig },
    ];
    const refused = [{ name: 'a', reason: missing }];
    const parsed = parseKubernetesAccounts({ kubernetes: { accounts } }, { accounts: { refused } });
    expect(parsed.accounts.map(({ name }) => name)).toEqual(['b']);
    expect(parsed.rejected).toEqual([
      { name: 'a', reason: missing },
      { name: 'a', reason: 'kubernetes.accounts[2].name: an earlier account has this name' },
    ]);
  });
});

test('nothing is said of what is no kubeconfig of this machine, cannot be read, or chooses nothing', async () => {
  const accounts = [
    { name: 'a', kubeconfigContents: kubeconfig, context: 'gone' },
    { name: 'b', kubeconfigSecret: 'kube', user: 'ops' },
    { name: 'c', kubeconfigFile: 'encryptedFile:secrets-manager!r:eu-west-1!s:kube', user: 'ops' },
    { name: 'd', kubeconfigContents: 'token: "planted', user: 'ops' },
    { name: 'e', user: 'ops' },
    { name: 'f', kubeconfigFile: '/dev/zero', user: 'ops' },
    { name: 'g', kubeconfigContents: kubeconfig, eks: { cluster: 'x' }, user: 'ops' },
    { name: 'h', kubeconfigContents: kubeconfig, user: 7 },
  ];
  expect(await inspect(accounts)).toEqual([]);
  for (const kubernetes of [{}, { accounts: 'x' }, { accounts: [null, 'x', 3] }]) {
    const options = { placement: 'local', environment: {} } as const;
    expect(await inspector.findUnusable({ kubernetes }, options)).toEqual([]);
  }
});

test('a deployed account without any kubeconfig is left out: there is no ~/.kube/config', () => {
  const settings = { kubernetes: { accounts: [{ name: 'bare' }, { name: 'inside', serviceAccount: true }] } };
  const names = (options: Parameters<typeof parseKubernetesAccounts>[1]) =>
    parseKubernetesAccounts(settings, options).accounts.map(({ name }) => name);
  expect(names({ placement: 'local' })).toEqual(['bare', 'inside']);
  // Who was given no credentials does not know what there is.
  expect(names({ placement: 'deployed', credentials: 'withheld' })).toEqual(['bare', 'inside']);
  expect(parseKubernetesAccounts(settings, { placement: 'deployed' }).rejected).toEqual([
    {
      name: 'bare',
      reason:
        'kubernetes.accounts[0].kubeconfigFile: none, and deployed functions have no ~/.kube/config: expected one of ' +
        'kubeconfigSecret, eks, server and kubeconfigContents',
    },
  ]);
});
