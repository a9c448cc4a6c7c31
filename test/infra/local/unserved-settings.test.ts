import { readFile, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { startSystem } from '#test/support/system/system.ts';
import { makeAccount, writeConfig } from './start-files.ts';

/** Messages about settings. Others are of agents: nobody runs the account's cluster. */
const messages =
  /^(account left out|account with an|permissions without|setting of no|unknown setting|more of the)/;

/** What an operator sees of settings: messages with their reasons, sorted. */
function readWarnings(stderr: string): string[] {
  return stderr
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))
    .filter(({ level, message }) => level === 'WARN' && messages.test(message))
    .map(({ message, reason = '' }) => `${message}: ${reason}`)
    .sort();
}

test('what a configuration asks for in vain is in the log: once at the start, and what a change adds', async () => {
  await using temp = await makeTempDir();
  const { kubernetes } = parse(await makeAccount(temp));
  const [account] = kubernetes.accounts;
  const accounts = [
    account,
    { ...account, name: 'grouped', permissions: { WRITE: ['ops'] }, namspaces: ['shop'] },
  ];
  const settings = {
    server: { port: 7002 },
    kubernetes: { enabled: true, accounts, chache: { cacheAll: true } },
    google: { enabled: true, accounts: [{ name: 'gce', jsonPath: 'planted' }] },
    aws: { enabled: true },
  };
  const config = await writeConfig(temp, JSON.stringify(settings));
  await using system = await startSystem({ config: [config] });
  for (let asked = 0; asked < 3; asked += 1) {
    const listed = await (await system.fetch('/credentials')).json();
    expect(listed).toMatchObject([{ name: 'grouped' }, { name: 'prod' }]);
  }
  const atStart = [
    'account left out: google.accounts: this release does not serve Google Compute Engine: left out are gce',
    "account with an unknown key: kubernetes.accounts[1].namspaces: unknown, and of no effect: did you mean 'namespaces'?",
    expect.stringMatching(
      /^permissions without Fiat: account "grouped": permissions have no effect without Fiat/,
    ),
    'setting of no effect: aws.enabled: this release does not serve Amazon EC2',
    "unknown setting: kubernetes.chache: unknown, and of no effect: did you mean 'cache'?",
  ];
  expect(readWarnings(system.stderr)).toEqual(atStart);

  await writeFile(config, JSON.stringify({ ...settings, ecs: { enabled: true } }));
  await expect
    .poll(async () => {
      await system.fetch('/credentials');
      return readWarnings(system.stderr);
    })
    .toContain('setting of no effect: ecs.enabled: this release does not serve Amazon ECS');
  expect(readWarnings(system.stderr)).toHaveLength(atStart.length + 1);
  expect(system.stderr).not.toContain('planted');
});

test('an account that names a user whom its kubeconfig lacks is left out alone, until the kubeconfig is mended', async () => {
  await using temp = await makeTempDir();
  const { kubernetes } = parse(await makeAccount(temp));
  const [account] = kubernetes.accounts;
  const accounts = [account, { ...account, name: 'other', user: 'ops' }];
  const config = await writeConfig(temp, JSON.stringify({ kubernetes: { enabled: true, accounts } }));
  await using system = await startSystem({ config: [config] });
  const list = async () => (await system.fetch('/credentials')).json();
  expect(await list()).toMatchObject([{ name: 'prod' }]);
  expect(readWarnings(system.stderr)).toEqual([
    'account left out: kubernetes.accounts[1].user: user "ops" does not exist (it has "u")',
  ]);

  const kubeconfig = JSON.parse(await readFile(account.kubeconfigFile, 'utf8'));
  kubeconfig.users.push({ name: 'ops', user: { token: 't' } });
  await writeFile(account.kubeconfigFile, JSON.stringify(kubeconfig));
  await expect.poll(list).toMatchObject([{ name: 'other' }, { name: 'prod' }]);
});
