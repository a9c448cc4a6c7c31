import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { createNamespace, describeWithCluster, findObject } from '../cluster/cluster.ts';
import { makeTempDir } from '../run/temp-dir.ts';
import { startSystem } from './system.ts';

describeWithCluster('the system under test', (cluster) => {
  test('deploys, is idle afterwards, and goes on after a restart', async () => {
    await using namespace = await createNamespace();
    await using system = await startSystem({ kubeconfig: cluster.kubeconfig });
    const [account = ''] = system.accounts;
    const configMap = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        name: 'one',
        namespace: namespace.name,
        annotations: { 'strategy.spinnaker.io/versioned': 'false' },
      },
      data: { key: 'value' },
    };
    const operation = { account, source: 'text', manifests: [configMap], moniker: { app: 'test' } };

    const id = await system.postOperations([{ deployManifest: operation }], {
      user: 'me',
      clientRequestId: 'once',
    });
    const task = await system.waitForTask(id);
    await system.idle();

    expect(task.status).toMatchObject({ completed: true, failed: false });
    const target = `/api/v1/namespaces/${namespace.name}/configmaps/one`;
    expect(await findObject(target)).toMatchObject({ data: { key: 'value' } });
    const { pid } = system;
    await system.restart();
    expect(system.pid).not.toBe(pid);
    expect((await system.fetch(`/task/${id}`)).status).toBe(200);
    expect(await system.postOperations([{ deployManifest: operation }], { clientRequestId: 'once' })).toBe(
      id,
    );
  });
});

test('an operation that is refused is an error with the answer', async () => {
  await using temp = await makeTempDir();
  const config = path.join(temp.path, 'clouddriver.yml');
  await writeFile(config, 'kubernetes: {enabled: true, accounts: []}');
  await using system = await startSystem({ config: [config] });
  await expect(system.postOperations([{ unknown: {} }])).rejects.toThrow('POST /kubernetes/ops: 400');
});

test('a start that fails tells why', async () => {
  await expect(startSystem({ args: ['--nonsense'] })).rejects.toThrow("Unknown option '--nonsense'");
});
