import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startRuntime } from '#infra/local/runtime.ts';
import { plugins } from '#providers/index.ts';
import { operationProviders } from '#providers/operation-providers.ts';
import { makeTempDir } from '../run/temp-dir.ts';
import { cloud, examplePlugin } from './example-provider.ts';

/** Adds the example to the registry while a test runs. */
function register(): void {
  plugins.push(examplePlugin);
  onTestFinished(() => void plugins.pop());
}

test('a provider that needs nothing of Kubernetes runs operations, caches and shows', async () => {
  register();
  cloud.set('one/north', new Set(['m0', 'old'])).set('one/south', new Set(['m0', 's0']));
  await using dir = await makeTempDir();
  const file = join(dir.path, 'clouddriver.yml');
  await writeFile(file, JSON.stringify({ example: { accounts: [{ name: 'one' }, { wrong: true }] } }));
  await using runtime = await startRuntime({
    ...{ host: '127.0.0.1', port: 0, allowedHosts: [], shutdownTimeoutMs: 1_000, logLevel: 'ERROR' },
    ...{ dataDir: join(dir.path, 'data'), configFiles: [file], profiles: [], kubeconfig: undefined },
  });
  const send = async (path: string, init?: RequestInit): Promise<unknown> =>
    (await fetch(new URL(path, runtime.url), init)).json();
  const post = (path: string, body: unknown) =>
    send(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });

  expect(await send('/credentials')).toMatchObject([{ name: 'one', cloudProvider: 'example' }]);

  await expect
    .poll(() => send('/instances/one/south/s0'))
    .toMatchObject({ account: 'one', name: 's0', healthState: 'Up' });
  expect(await send('/instances/one/north/old')).toMatchObject({ name: 'old' });
  cloud.get('one/north')?.delete('old');
  const current = { headers: { 'cache-control': 'max-age=0' } };
  expect(await send('/instances/one/north/old', current)).toMatchObject({ status: 404 });
  expect(await send('/instances/one/north/m0', current)).toMatchObject({ name: 'm0' });

  const subnet = { account: 'one', region: 'north' };
  expect(await send('/subnets/Example')).toEqual([subnet, { account: 'one', region: 'south' }]);
  expect(await send('/subnets')).toContainEqual(subnet);
  expect(await send('/subnets/kubernetes')).toEqual([]);
  expect(await send('/networks')).toEqual({});

  cloud.get('one/north')?.add('new');
  expect(await post('/cache/example/Machine', subnet)).toEqual({
    cachedIdentifiersByType: { Machine: ['one:north'] },
  });
  expect(await send('/instances/one/north/new')).toMatchObject({ name: 'new' });
  cloud.get('one/north')?.delete('new');
  expect(await post('/cache/example/Job', subnet)).toEqual({ cachedIdentifiersByType: {} });
  expect(await post('/cache/example/Machine', { account: 'two' })).toEqual({ cachedIdentifiersByType: {} });

  const refused = await post('/example/ops', [{ createMachine: { account: 'one' } }]);
  expect(refused).toMatchObject({ errors: ['machine: expected a name'] });
  const task = await post('/example/ops', [{ createMachine: { account: 'one', machine: 'm1' } }]);
  const { id } = task as { id: string };
  await expect
    .poll(() => send(`/task/${id}`))
    .toMatchObject({ status: { completed: true, failed: false }, resultObjects: [{ machine: 'm1' }] });
  expect(cloud.get('one/north')).toEqual(new Set(['m0', 'm1']));
});

test('it is small, and imports nothing of a provider', async () => {
  const text = await readFile(join(import.meta.dirname, 'example-provider.ts'), 'utf8');
  expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(120);
  expect(text).not.toMatch(/#(providers|platform)\/|#[a-z-]+\/(aws|services|http|events)\//);
  expect(operationProviders).not.toContain('example');
});
