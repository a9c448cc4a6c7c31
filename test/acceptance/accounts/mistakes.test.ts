import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { toKubeconfig } from '#test/shared/providers/kubernetes/client/scripted-server.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { startSystem } from '#test/support/system/system.ts';

test('an account whose settings are wrong says so: in its health at once, and at the start where that is known', async () => {
  await using temp = await makeTempDir();
  const kubeconfigFile = path.join(temp.path, 'kubeconfig');
  await writeFile(kubeconfigFile, toKubeconfig({ server: 'http://127.0.0.1:9' }, {}));
  const accounts = [
    { name: 'file', kubeconfigFile: path.join(temp.path, 'missing') },
    { name: 'context', kubeconfigFile, context: 'nope' },
    { name: 'kinds', kubeconfigFile, kinds: ['deploymnt', 'Tram.example.com', 'ConfigMap'] },
  ];
  await using system = await startSystem({ settings: { kubernetes: { accounts } } });
  expect(system.stderr).toContain("kinds[0]: there is no kind 'deploymnt': did you mean deployment?");
  expect(system.stderr.match(/there is no kind/g)).toHaveLength(1);
  for (const [name, words] of [
    ['file', 'missing'],
    ['context', 'nope'],
  ] as const) {
    const reason = 'its settings cannot be used: GET /cache/introspection says why';
    await expect
      .poll(async () => (await system.fetch(`/credentials/${name}/health`)).json())
      .toMatchObject({ state: 'DEGRADED', reason });
    const failed = { account: name, lastError: expect.stringContaining(words) };
    await expect
      .poll(async () => (await system.fetch('/cache/introspection')).json())
      .toContainEqual(expect.objectContaining(failed));
  }
  // What everybody may see names no file.
  expect(await (await system.fetch('/credentials?expand=true')).text()).not.toContain(temp.path);
});
