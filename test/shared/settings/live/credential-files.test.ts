import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { startRuntime } from '#infra/local/runtime.ts';
import { readConfig } from '#platform/config.ts';
import { artifactsPlugin } from '#providers/artifacts/index.ts';
import {
  credentialFileBytesMax,
  credentialFilesMax,
  mergeCredentialFiles,
  readCredentialFiles,
} from '#settings/live/credential-files.ts';
import { CredentialSource } from '#settings/live/credential-source.ts';
import { createTestOptions } from '#test/shared/providers/artifacts/options.ts';
import { makeTempDir, type TempDir } from '#test/support/run/temp-dir.ts';
import { createTestHost } from '#test/support/services/test-host.ts';

const chart = { name: 'charts', types: ['helm/chart'], repository: 'https://charts.test/stable' };
const secret = 'planted-s3cr3t-value';

let dir: TempDir;
beforeEach(async () => {
  dir = await makeTempDir();
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await dir[Symbol.asyncDispose]();
});

/** Writes a file into the directory; what is no text becomes JSON. */
async function write(name: string, content: unknown, folder = dir.path): Promise<void> {
  await writeFile(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content));
}

/** What the directory and a YAML file make: the settings of artifacts, what is left out, accounts with their types. */
async function load(yaml = '{}') {
  await using settings = await makeTempDir();
  const file = join(settings.path, 'clouddriver.yml');
  await writeFile(file, yaml);
  const environment = {
    ...{ BUSDRIVER_TASKS_TABLE: 'tasks', BUSDRIVER_CACHE_TABLE: 'cache', BUSDRIVER_BUS_NAME: 'bus' },
    ...{ BUSDRIVER_OPERATIONS_QUEUE_URL: 'operations', BUSDRIVER_AGENTS_QUEUE_URL: 'agents' },
    ...{ BUSDRIVER_ENGINE_ACCESS_KEY_ID: 'id', BUSDRIVER_ENGINE_SECRET_ACCESS_KEY: 'key' },
    ...{ BUSDRIVER_PLACEMENT: 'local', BUSDRIVER_CONFIG_FILES: JSON.stringify([file]) },
    ARTIFACTS_CREDENTIALS_CONFIG_DIR: dir.path,
  };
  const { secrets } = createTestHost();
  const config = readConfig(environment);
  const source = new CredentialSource({ config, secrets, environment: {}, isDivided: false });
  const parsed = source.parse(await source.read());
  await using provider = artifactsPlugin.open(createTestOptions(parsed.settings));
  const named = (provider.artifacts?.accounts ?? []).map(({ name, types }) => `${name}: ${types.join()}`);
  const rejected = [...(parsed.rejectedAccounts ?? []), ...provider.rejectedAccounts];
  return { artifacts: parsed.settings['artifacts'], rejected, named };
}

describe('a file for each account', () => {
  test('is an account of the kind that its types say, with the options that go-clouddriver knows', async () => {
    await write('chart.json', { ...chart, username: 'reader', password: secret });
    await write('hub.json', { name: 'hub', types: ['github/file'], token: secret });
    await write('ghe.json', {
      ...{ name: 'ghe', types: ['github/file'], token: secret },
      ...{ enterprise: true, baseURL: 'https://github.test/api/v3/' },
    });
    await write('code.json', { name: 'code', types: ['git/repo'], token: secret });
    await write('bucket.json', { name: 'bucket', types: ['gcs/object'], jsonPath: '/keys/gcs.json' });
    await write('web.json', { name: 'web', types: ['http/file'] });

    const { artifacts, named } = await load();

    expect(artifacts).toEqual({
      helm: {
        enabled: true,
        accounts: [{ name: 'charts', repository: chart.repository, username: 'reader', password: secret }],
      },
      github: {
        enabled: true,
        accounts: [
          { name: 'ghe', token: secret, credentialOrigins: ['https://github.test'] },
          { name: 'hub', token: secret },
        ],
      },
      gitRepo: { enabled: true, accounts: [{ name: 'code', token: secret }] },
      gcs: { enabled: true, accounts: [{ name: 'bucket', jsonPath: '/keys/gcs.json' }] },
      http: { enabled: true, accounts: [{ name: 'web' }] },
    });
    expect(named).toEqual(
      expect.arrayContaining(['charts: helm/chart,helm/index', 'ghe: github/file', 'hub: github/file']),
    );
  });

  test('comes behind the accounts of the YAML, whose names stay taken', async () => {
    await write('chart.json', chart);
    await write('other.json', { ...chart, name: 'other' });
    const yaml =
      'artifacts: {HELM: {enabled: true, accounts: [{name: charts, repository: "https://yaml.test"}]}}';

    const { artifacts, rejected } = await load(yaml);

    expect(artifacts).toMatchObject({
      helm: {
        accounts: [{ repository: 'https://yaml.test' }, { repository: chart.repository }, { name: 'other' }],
      },
    });
    expect(rejected.map(({ reason }) => reason)).toEqual([
      "artifacts.helm account 'charts': the name is taken",
    ]);
  });

  test('does not bring accounts to life that the YAML has switched off', async () => {
    await write('chart.json', chart);

    const { named } = await load(
      'artifacts: {helm: {enabled: false, accounts: [{name: asleep, repository: "https://yaml.test"}]}}',
    );

    expect(named.filter((line) => line.includes('helm'))).toEqual(['charts: helm/chart,helm/index']);
  });

  test.each([
    ['no JSON', `{"name": "bad", "token": "${secret}"`, 'expected JSON'],
    ['a list', [secret], 'expected an object, got a list'],
    ['no name', { ...chart, name: ' ' }, 'name: expected a value'],
    ['no types', { ...chart, types: undefined }, 'types: expected'],
    ['an empty list of types', { ...chart, types: [] }, 'types: expected one of'],
    ['another type', { ...chart, types: ['ftp/file'] }, 'types: expected one of helm/chart'],
    ['a built-in type', { name: 'mine', types: ['docker/image'] }, 'are built in'],
    ['a chart without a repository', { ...chart, repository: '' }, 'repository: expected'],
    [
      'an Enterprise Server without an address',
      { name: 'ghe', types: ['github/file'], token: secret, enterprise: true },
      'baseURL: expected the URL',
    ],
    ['too many bytes', { ...chart, note: 'x'.repeat(credentialFileBytesMax) }, 'bytes at most'],
  ])('with %s is left out alone, by name, and is not quoted', async (_what, content, reason) => {
    await write('bad.json', content);
    await write('chart.json', chart);

    const { named, rejected } = await load();

    expect(named).toContain('charts: helm/chart,helm/index');
    const path = join(dir.path, 'bad.json');
    expect(rejected).toEqual([{ name: path, reason: expect.stringContaining(`${path}: `) }]);
    expect(rejected[0]?.reason).toContain(reason);
    expect(JSON.stringify(rejected)).not.toContain(secret);
  });
});

describe('the directory', () => {
  test('may be a mounted ConfigMap: links are followed, and a change of them is seen', async () => {
    await mountVersion('one', chart);
    await symlink(join('..data', 'chart.json'), join(dir.path, 'chart.json'));
    expect((await load()).named).toContain('charts: helm/chart,helm/index');
    await mountVersion('two', { ...chart, name: 'renamed' });
    expect((await load()).named).toContain('renamed: helm/chart,helm/index');
  });

  test('that is not there leaves out its files and nothing else', async () => {
    await rm(dir.path, { recursive: true });
    const { rejected, named } = await load('artifacts: {http: {enabled: true, accounts: [{name: web}]}}');
    expect(rejected).toEqual([{ name: dir.path, reason: expect.stringContaining('cannot be read: ENOENT') }]);
    expect(named).toContain('web: http/file');
  });

  test('has so many files at most, the first by name', async () => {
    const names = Array.from({ length: credentialFilesMax + 1 }, (_, index) => `${index}`.padStart(5, '0'));
    for (const name of names) await write(name, { ...chart, name });
    const { settings, rejectedAccounts } = mergeCredentialFiles({}, await readCredentialFiles(dir.path));
    expect(settings).toMatchObject({ artifacts: { helm: { accounts: { length: credentialFilesMax } } } });
    expect(rejectedAccounts).toEqual([
      { name: dir.path, reason: expect.stringContaining('1 more files are left out') },
    ]);
  });
});

/** Puts a version of a ConfigMap with one file in place, as the kubelet does: by a link that is replaced at once. */
async function mountVersion(version: string, content: unknown): Promise<void> {
  const folder = `..2026_${version}`;
  await mkdir(join(dir.path, folder));
  await write('chart.json', content, join(dir.path, folder));
  await symlink(folder, join(dir.path, '..new'));
  await rename(join(dir.path, '..new'), join(dir.path, '..data'));
}

test('npm start lists the accounts of the directory that the variable names', async () => {
  await using data = await makeTempDir();
  await write('chart.json', chart);
  const file = join(data.path, 'clouddriver.yml');
  await writeFile(file, 'artifacts: {http: {enabled: true, accounts: [{name: web}]}}');
  vi.stubEnv('ARTIFACTS_CREDENTIALS_CONFIG_DIR', dir.path);

  await using runtime = await startRuntime({
    ...{ dataDir: join(data.path, 'data'), configFiles: [file], profiles: [], kubeconfig: undefined },
    ...{ host: '127.0.0.1', port: 0, allowedHosts: [], shutdownTimeoutMs: 1_000, logLevel: 'ERROR' },
  });

  expect(await runtime.get('/artifacts/credentials')).toEqual(
    expect.arrayContaining([
      { name: 'charts', type: 'artifacts-helm', types: ['helm/chart', 'helm/index'] },
      expect.objectContaining({ name: 'web' }),
    ]),
  );
});
