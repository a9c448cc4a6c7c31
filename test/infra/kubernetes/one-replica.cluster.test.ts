import { once } from 'node:events';
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import path from 'node:path';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { asJsonArray, getPath, type JsonObject } from '#core/json.ts';
import { nodeOptions } from '#infra/local/memory-settings.ts';
import { createNamespace, describeWithCluster, kubectl } from '#test/support/cluster/cluster.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { toDeploy } from '#test/support/system/config-map-deploy.ts';
import { startSystem } from '#test/support/system/system.ts';

const folder = path.join(import.meta.dirname, '../../../infra/kubernetes/one-replica');
const kustomize = async () =>
  parseAllDocuments(await kubectl(['kustomize', folder])).map((each) => each.toJS() as JsonObject);

describeWithCluster('one replica in Kubernetes, without AWS', (cluster) => {
  test('has manifests that a real API server takes, each field of them', async () => {
    await using namespace = await createNamespace('kustomize');
    // Validation needs the namespace, and a dry run makes none.
    const moved = JSON.stringify(await kustomize()).replaceAll('"spinnaker"', `"${namespace.name}"`);
    const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: JSON.parse(moved) });
    const apply = ['apply', '--dry-run=server', '--validate=strict', '--output=name', '--filename=-'];
    const said = (await kubectl(apply, { stdin: list })).trim().split('\n');
    expect(said.map((line) => line.split('/')[0]).sort()).toEqual([
      ...['configmap', 'deployment.apps', 'networkpolicy.networking.k8s.io', 'persistentvolumeclaim'],
      ...['service', 'serviceaccount'],
    ]);
  });

  test('starts with the options of its container, answers by the name of its Service, and is restored from a copy', async () => {
    await using temp = await makeTempDir();
    const deployment = (await kustomize()).find(({ kind }) => kind === 'Deployment');
    const [container] = asJsonArray(getPath(deployment, 'spec', 'template', 'spec', 'containers'));
    const command = asJsonArray(getPath(container, 'command')).map(String);
    expect(command).toEqual(['node', ...nodeOptions, '/busdriver/local/main.js']);
    const kubernetes = { accounts: [{ name: 'own-cluster', kubeconfigFile: cluster.kubeconfig }] };
    await writeFile(path.join(temp.path, 'clouddriver.yml'), JSON.stringify({ kubernetes }));
    // The volume belongs to a group: the folder in it is made by the process.
    const volume = path.join(temp.path, 'volume');
    await mkdir(volume, { mode: 0o775 });
    const toArgs = (where: string) =>
      asJsonArray(getPath(container, 'args'))
        .map((each) => String(each).replace('/var/lib/busdriver', where).replace('/etc/busdriver', temp.path))
        .filter((each) => !each.startsWith('--host='));

    await using namespace = await createNamespace('replica');
    await using first = await startSystem({ dataDir: path.join(volume, 'data'), args: toArgs(volume) });
    for (const [name, status] of [
      ['spin-clouddriver.spinnaker:7002', 200],
      ['attacker.example:7002', 403],
    ] as const) {
      const asked = request(new URL('/health', first.url), { headers: { host: name } }).end();
      const [{ statusCode }] = await once(asked, 'response');
      expect(statusCode).toBe(status);
    }
    const id = await first.postOperations([toDeploy('own-cluster', namespace.name, ['kept'])]);
    const task = await first.waitForTask(id);
    expect(task.status.failed).toBe(false);

    // What a snapshot of the volume is: all of its files at one moment, without a word to the process.
    const copy = path.join(temp.path, 'copy');
    process.kill(first.pid, 'SIGSTOP');
    await cp(volume, copy, { recursive: true }).finally(() => process.kill(first.pid, 'SIGCONT'));
    await first.kill('SIGKILL');
    await using second = await startSystem({ dataDir: path.join(copy, 'data'), args: toArgs(copy) });
    expect(await second.waitForTask(id)).toEqual(task);
  });
});
