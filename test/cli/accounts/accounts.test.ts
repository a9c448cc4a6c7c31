import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asJsonArray, getPath } from '#core/json.ts';
import { toKubeconfig } from '#test/shared/providers/kubernetes/client/scripted-server.ts';
import { makeTempDir, type TempDir } from '#test/support/run/temp-dir.ts';
import { type System, startSystem } from '#test/support/system/system.ts';
import { runCommand } from '../command-line.ts';

const planted = 'planted-token-91ce';

const stack = new AsyncDisposableStack();
let dir: TempDir;
let system: System;

async function run(...words: readonly string[]) {
  return runCommand([...words, '--url', system.url]);
}

async function runJson(...words: readonly string[]) {
  const { code, stdout, stderr } = await run(...words, '--output', 'json');
  return { code, stderr, value: stdout === '' ? undefined : JSON.parse(stdout) };
}

async function getDefinition(name: string): Promise<unknown> {
  const list = asJsonArray(await (await system.fetch('/credentials/type/kubernetes?limit=1000')).json());
  return list.find((each) => getPath(each, 'name') === name);
}

async function writeFileIn(name: string, text: string): Promise<string> {
  const file = path.join(dir.path, name);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, text);
  return file;
}

beforeAll(async () => {
  dir = stack.use(await makeTempDir());
  const accounts = [{ name: 'yaml', kubeconfigSecret: 'clusters/yaml' }];
  const config = await writeFileIn('clouddriver.yml', JSON.stringify({ kubernetes: { accounts } }));
  system = stack.use(await startSystem({ config: [config], env: { ARCADE_API_KEY: 'test' } }));
});
afterAll(() => stack.disposeAsync());

describe('busdriver accounts', () => {
  it('adds, lists, tells the history of and removes an account', async () => {
    const added = await run('accounts', 'add', 'life', '--kubeconfig-secret', 'clusters/life');
    expect(added).toMatchObject({
      code: 0,
      stdout: 'account life added\n',
      stderr: 'Next: busdriver accounts check life\n',
    });
    const { code, value } = await runJson('accounts', 'list');
    expect(code).toBe(0);
    expect(value).toEqual([
      expect.objectContaining({ name: 'life', provider: 'kubernetes', origin: 'store' }),
      expect.objectContaining({ name: 'yaml', provider: 'kubernetes', origin: 'settings' }),
    ]);
    const { stdout } = await run('accounts', 'list');
    expect(stdout.split('\n').map((line) => line.split(/ {2,}/).slice(0, 3))).toEqual([
      ['NAME', 'PROVIDER', 'ORIGIN'],
      ['life', 'kubernetes', 'store'],
      ['yaml', 'kubernetes', 'settings'],
      [''],
    ]);

    const again = await run('accounts', 'add', 'life', '--eks', 'other');
    expect(again).toMatchObject({
      code: 1,
      stdout: '',
      stderr:
        'error: 400: Cannot create an account which already exists (name: life)\n' +
        'Next: choose another name; busdriver accounts list has those that there are\n',
    });
    const body = { type: 'kubernetes', name: 'life', kubeconfigSecret: 'clusters/new', environment: 'test' };
    await system.fetch('/credentials/life', { method: 'PUT', body: JSON.stringify(body) });
    const removed = await run('accounts', 'remove', 'life');
    expect(removed).toMatchObject({
      code: 0,
      stdout: 'account life removed; its cluster is as it was\n',
      stderr: '',
    });

    const history = await run('accounts', 'history', 'life');
    expect(history.stdout.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
      ['VERSION', 'TIME', 'CHANGE'],
      ['3', expect.stringMatching(/^20\d\d-\d\d-\d\dT[\d:]{8}Z$/), 'deleted'],
      ['2', expect.anything(), 'changed environment, kubeconfigSecret'],
      ['1', expect.anything(), 'created'],
      [''],
    ]);
    const told = await runJson('accounts', 'history', 'life');
    expect(told.value).toEqual(await (await system.fetch('/credentials/life/history')).json());
  });

  it.each([
    [
      ['--eks', 'main', '--region', 'eu-west-1', '--role-arn', 'arn:aws:iam::111122223333:role/spin'],
      { eks: { cluster: 'main', region: 'eu-west-1', roleArn: 'arn:aws:iam::111122223333:role/spin' } },
    ],
    [
      [
        '--kubeconfig-secret',
        's',
        '--context',
        'c',
        '--namespace',
        'a',
        '--namespace',
        'b',
        '--environment',
        'e',
      ],
      { kubeconfigSecret: 's', context: 'c', namespaces: ['a', 'b'], environment: 'e' },
    ],
    [
      ['--host', 'https://10.1.2.3:6443', '--token-provider', 'other'],
      { server: { host: 'https://10.1.2.3:6443', tokenProvider: 'other' } },
    ],
  ])('add with %j stores %j', async (options, stored) => {
    const { code, value, stderr } = await runJson('accounts', 'add', 'variant', ...options);
    const definition = { type: 'kubernetes', name: 'variant', ...stored };
    expect({ code, value, stderr }).toEqual({ code: 0, value: definition, stderr: '' });
    expect(await getDefinition('variant')).toEqual(definition);
    const removed = await runJson('accounts', 'remove', 'variant');
    expect(removed.value).toEqual({ name: 'variant', removed: true });
  });

  it('add takes certificates of a file, and no other file', async () => {
    const pem = '-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n';
    const ca = await writeFileIn('ca.pem', pem);
    const words = ['accounts', 'add', 'by-ca', '--host', 'https://10.1.2.3', '--ca'];
    const { value } = await runJson(...words, ca);
    expect(value.server).toEqual({ host: 'https://10.1.2.3', caData: Buffer.from(pem).toString('base64') });
    const config = path.join(dir.path, 'clouddriver.yml');
    const { code, stderr } = await run(...words, config);
    expect(code).toBe(1);
    expect(stderr).toBe(`error: ${config} holds no certificate\nNext: give certificates in PEM\n`);
    await run('accounts', 'remove', 'by-ca');
  });

  it('add takes a kubeconfig, and tells what to do with its secrets where the settings refuse them', async () => {
    const server = 'https://127.0.0.1:1';
    const file = await writeFileIn('secret', toKubeconfig({ server }, { token: planted }));
    const words = ['accounts', 'add', 'by-file', '--kubeconfig', file];
    expect(await run(...words)).toMatchObject({ code: 0 });
    expect(await getDefinition('by-file')).toMatchObject({ kubeconfigContents: '******' });
    await run('accounts', 'remove', 'by-file');

    const settings = { busdriver: { accounts: { allowPlainSecrets: false } } };
    await using strict = await startSystem({ settings });
    const refused = await runCommand([...words, '--url', strict.url]);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(
      /kubeconfigContents: holds a secret.*\nNext: put it into a secret .*--kubeconfig-secret/,
    );
    expect(JSON.stringify(refused)).not.toContain(planted);
  });

  it.each([
    [['remove', 'none'], '404: No account found with name none', 'busdriver accounts list has the accounts'],
    [['history', 'none'], '404: No account found with name none', 'busdriver accounts list has the accounts'],
    [['compare', 'none'], '404: No account found with name none', 'busdriver accounts list has the accounts'],
    [['check', 'none'], '404: ', 'busdriver accounts list has the accounts'],
  ])('%j says that there is none, and what to do', async (words, message, next) => {
    const { code, stdout, stderr } = await run('accounts', ...words);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(message);
    expect(stderr).toContain(`Next: ${next}`);
  });

  it('remove says in which file an account stands that the store does not have', async () => {
    const { code, stderr } = await run('accounts', 'remove', 'yaml');
    expect(code).toBe(1);
    expect(stderr).toMatch(/The account yaml stands in .*clouddriver\.yml: remove it there/);
  });

  it('add says so where who adds it is shut out without Fiat', async () => {
    const { stdout, stderr } = await run(
      'accounts',
      'add',
      'shut',
      '--kubeconfig-secret',
      's',
      '--write',
      'ops',
    );
    expect(stdout).toBe('account shut added\n');
    expect(stderr).toMatch(/^permissions: without Fiat you may not use this account, or change it again/);
    const headers = { 'X-SPINNAKER-ACCOUNTS': 'shut' };
    expect((await system.fetch('/credentials/shut', { method: 'DELETE', headers })).status).toBe(200);
  });

  it('history says in which file an account stands, and where to look', async () => {
    const { code, stderr } = await run('accounts', 'history', 'yaml');
    expect(code).toBe(1);
    expect(stderr).toMatch(/No account found with name yaml: it stands in .*clouddriver\.yml, whose changes/);
    expect(stderr).toContain('Next: look for its changes where that file is kept');
  });

  it('check looks at Busdriver, the account and its caching, and says what it did not look at', async () => {
    const { value } = await runJson('accounts', 'check', 'yaml');
    const states = value.map(({ check, state }: { check: string; state: string }) => [check, state]);
    expect(states).toEqual(
      expect.arrayContaining([
        ['busdriver', 'ok'],
        ['clock of busdriver', 'ok'],
        ['account', 'ok'],
      ]),
    );
    // No secret of that name can be read here: the agents fail, or have not run yet.
    expect(states.find(([check]: string[]) => check === 'caching')).not.toEqual(['caching', 'ok']);
    const { code, stdout } = await run(
      'accounts',
      'check',
      'yaml',
      '--kubeconfig',
      path.join(dir.path, 'none'),
    );
    expect(code).toBe(1);
    expect(stdout).toMatch(/^cluster +failed +.*none/m);
  });
});
