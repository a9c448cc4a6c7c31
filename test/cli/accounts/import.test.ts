import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asJsonArray, getPath } from '#core/json.ts';
import { makeTempDir, type TempDir } from '#test/support/run/temp-dir.ts';
import { type System, startSystem } from '#test/support/system/system.ts';
import { runCommand } from '../command-line.ts';
import { startOldServer } from './old-server.ts';

const stack = new AsyncDisposableStack();
let dir: TempDir;
let system: System;

async function importFrom(words: readonly string[], env: { readonly [name: string]: string } = {}) {
  return runCommand(['accounts', 'import', ...words, '--url', system.url], env);
}

async function importJson(...words: readonly string[]) {
  const { code, stdout, stderr } = await importFrom([...words, '--output', 'json']);
  return { code, stderr, outcomes: JSON.parse(stdout) };
}

async function listNames(): Promise<readonly unknown[]> {
  const accounts = asJsonArray(await (await system.fetch('/credentials')).json());
  return accounts.map((account) => getPath(account, 'name'));
}

async function getDefinition(name: string): Promise<unknown> {
  const list = asJsonArray(await (await system.fetch('/credentials/type/kubernetes?limit=1000')).json());
  return list.find((each) => getPath(each, 'name') === name);
}

async function writeFileIn(name: string, text: string): Promise<string> {
  const file = path.join(dir.path, name);
  await writeFile(file, text);
  return file;
}

beforeAll(async () => {
  dir = stack.use(await makeTempDir());
  system = stack.use(await startSystem({ config: [await writeFileIn('clouddriver.yml', '{}')] }));
});
afterAll(() => stack.disposeAsync());

describe("import from Clouddriver's account storage", () => {
  const accounts = Array.from({ length: 130 }, (_, index) => ({
    type: 'kubernetes',
    name: `old-${String(index).padStart(3, '0')}`,
    kubeconfigSecret: `clusters/${index}`,
    ...(index === 7 && { namingStrategy: 'other' }),
  }));
  const others = accounts.filter(({ namingStrategy }) => namingStrategy === undefined);

  it('reads it page by page, adds each account once, and tells which failed and why', async () => {
    await using old = await startOldServer(accounts);
    const env = { BUSDRIVER_IMPORT_TOKEN: 'planted-import-77' };
    const { code, stdout, stderr } = await importFrom(['--clouddriver', old.url], env);

    expect(code).toBe(1);
    expect(stderr).toMatch(/^129 created, 1 failed$/m);
    expect(stdout).toMatch(/^old-007 +failed +400: namingStrategy: expected/m);
    expect(await listNames()).toEqual(others.map(({ name }) => name));
    expect(old.requests).toEqual([
      '/credentials/type/kubernetes?limit=100',
      '/credentials/type/kubernetes?limit=100&startingAccountName=old-099',
    ]);
    expect([...old.tokens]).toEqual(['Bearer planted-import-77']);
    expect(stdout + stderr + (await system.readLog())).not.toContain('planted');
  });

  it('leaves those that are there as they are, unless they are to be replaced', async () => {
    const [first] = accounts;
    const changed = { ...first, environment: 'new' };
    await using old = await startOldServer([changed]);
    const again = await importJson('--clouddriver', old.url);
    expect(again).toMatchObject({ code: 0, outcomes: [{ name: 'old-000', outcome: 'exists' }] });
    expect(await getDefinition('old-000')).toEqual(first);

    const replaced = await importJson('--clouddriver', old.url, '--replace');
    expect(replaced).toMatchObject({ code: 0, outcomes: [{ name: 'old-000', outcome: 'saved' }] });
    expect(await getDefinition('old-000')).toEqual(changed);
  });

  it('adds nothing in a dry run', async () => {
    const before = await listNames();
    await using old = await startOldServer([{ type: 'kubernetes', name: 'dry', kubeconfigSecret: 'a' }]);
    const { code, outcomes } = await importJson('--clouddriver', old.url, '--dry-run');
    expect({ code, outcomes }).toEqual({ code: 0, outcomes: [{ name: 'dry', outcome: 'readable' }] });
    expect(await listNames()).toEqual(before);
  });

  it('tells when that is another server', async () => {
    await using old = await startOldServer([]);
    const { code, stderr } = await importFrom(['--clouddriver', `${old.url}/gate`]);
    expect(code).toBe(1);
    expect(stderr).toContain('error: 404: not found\nNext: look whether the URL is right');
    const empty = await importFrom(['--clouddriver', old.url]);
    expect(empty).toMatchObject({ code: 0, stderr: 'there is nothing to import\n' });
  });
});

describe('import from files', () => {
  const kubeconfig = JSON.stringify({
    'current-context': 'a',
    contexts: ['a', 'b'].map((name) => ({ name, context: { cluster: name, user: 'none' } })),
    clusters: ['a', 'b'].map((name) => ({ name, cluster: { server: `https://${name}` } })),
    users: [{ name: 'none', user: {} }],
  });

  it("takes the accounts of Halyard's config, with their kubeconfigs within them", async () => {
    const file = await writeFileIn('kubeconfig', kubeconfig);
    const config = {
      currentDeployment: 'default',
      deploymentConfigurations: [
        {
          name: 'default',
          version: '1.30.0',
          providers: {
            kubernetes: {
              enabled: true,
              accounts: [
                { name: 'hal-b', kubeconfigFile: file, context: 'b', environment: 'old' },
                { name: 'hal-none', kubeconfigFile: `${file}-gone` },
              ],
            },
            dockerRegistry: { enabled: true, accounts: [{ name: 'hub' }] },
          },
        },
      ],
    };
    const { code, stderr, outcomes } = await importJson(
      '--file',
      await writeFileIn('hal', JSON.stringify(config)),
    );

    expect(code).toBe(1);
    expect(outcomes).toEqual([
      { name: 'hal-b', outcome: 'created' },
      {
        name: 'hal-none',
        outcome: 'failed',
        reason: expect.stringContaining('kubeconfig-gone cannot be read: ENOENT'),
      },
    ]);
    expect(stderr).toContain(
      'left out dockerRegistry.accounts: 1 left out: only those of Kubernetes are stored',
    );
    expect(await getDefinition('hal-b')).toEqual({
      type: 'kubernetes',
      name: 'hal-b',
      context: 'b',
      environment: 'old',
      kubeconfigContents: '******',
    });
  });

  it("takes those of Spring's files, in any spelling and of the profiles that are named", async () => {
    const file = await writeFileIn(
      'spring.yml',
      `kubernetes.accounts: [{name: plain, kubeconfig-secret: clusters/plain}]
---
spring.config.activate.on-profile: prod
kubernetes.accounts: [{name: of-prod, KUBECONFIG_FILE: "\${FOLDER}/kubeconfig"}]`,
    );
    await writeFileIn('kubeconfig', kubeconfig);
    const plain = await importJson('--file', file);
    expect(plain.outcomes).toEqual([{ name: 'plain', outcome: 'created' }]);
    const words = ['--file', file, '--profiles', 'local,prod', '--output', 'json'];
    const { stdout } = await importFrom(words, { FOLDER: dir.path });
    expect(JSON.parse(stdout)).toEqual([{ name: 'of-prod', outcome: 'created' }]);
  });

  it('tells what of a file is wrong', async () => {
    const file = await writeFileIn('wrong.yml', 'kubernetes: [unclosed');
    const { code, stdout, stderr } = await importFrom(['--file', file]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^error: .*wrong\.yml/);
  });
});
