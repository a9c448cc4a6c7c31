import { expect, it } from 'vitest';
import { startTokenBroker } from '#test/support/services/token-broker.ts';
import { startSystem } from '#test/support/system/system.ts';
import { runCommand } from '../command-line.ts';
import { startOldServer } from './old-server.ts';

it('takes the providers of a go-clouddriver, without tokens that it never used, and once', async () => {
  const bearerToken = 'planted-bearer-4f1a';
  const kept = [
    {
      name: 'test-provider',
      host: 'https://test-host',
      caData: 'test',
      permissions: { read: ['test-group'], write: ['test-group'] },
    },
    {
      name: 'bounded',
      host: 'https://other-host',
      caData: 'test',
      namespaces: ['shop'],
      tokenProvider: 'google',
    },
  ];
  const unknown = { name: 'unknown', host: 'https://third-host', tokenProvider: 'unknown' };
  await using broker = await startTokenBroker(() => 'token-of-the-broker');
  await using old = await startOldServer([...kept.map((each) => ({ ...each, bearerToken })), unknown]);
  await using system = await startSystem({
    settings: {},
    env: { ARCADE_URL: broker.url, ARCADE_API_KEY: 'test' },
  });
  const run = () =>
    runCommand(['accounts', 'import', '--go-clouddriver', old.url, '--url', system.url, '--output', 'json']);

  const { code, stdout, stderr } = await run();
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toEqual([
    { name: 'test-provider', outcome: 'created' },
    { name: 'bounded', outcome: 'created' },
    { name: 'unknown', outcome: 'failed', reason: expect.stringMatching(/^400: error getting token: /) },
  ]);
  expect(stderr).toContain('left out test-provider: its bearerToken is left out');
  expect(stdout + stderr + (await system.readLog())).not.toContain(bearerToken);

  const credentials = await (await system.fetch('/credentials')).json();
  expect(credentials).toEqual([
    expect.objectContaining({ name: 'bounded', cloudProvider: 'kubernetes' }),
    expect.objectContaining({
      name: 'test-provider',
      permissions: { READ: ['test-group'], WRITE: ['test-group'] },
    }),
  ]);
  const one = await system.fetch('/v1/kubernetes/providers/bounded');
  expect(await one.json()).toEqual(kept[1]);
  const again = await run();
  expect(JSON.parse(again.stdout).map(({ outcome }: { outcome: string }) => outcome)).toEqual([
    'exists',
    'exists',
    'failed',
  ]);
});
