import { expect, it } from 'vitest';
import { asJsonArray, asJsonObject } from '#core/json.ts';
import { createNamespace, describeWithCluster } from '#test/support/cluster/cluster.ts';
import { chooseSize } from '#test/support/run/test-size.ts';
import { type System, startSystem } from '#test/support/system/system.ts';

/** Accounts that come and go; 500 in the long form. */
const count = chooseSize({ short: 25, long: 500 });

function define(name: string) {
  return { type: 'kubernetes', name, server: { host: 'http://127.0.0.1:1' }, kinds: ['configMap'] };
}

async function change(system: System, method: 'POST' | 'DELETE', name: string): Promise<number> {
  const isNew = method === 'POST';
  const response = await system.fetch(isNew ? '/credentials' : `/credentials/${name}`, {
    method,
    ...(isNew && { body: JSON.stringify(define(name)) }),
  });
  await response.text();
  return response.status;
}

async function isListed(system: System, name: string): Promise<boolean> {
  const accounts = asJsonArray(await (await system.fetch('/credentials')).json());
  return accounts.some((account) => asJsonObject(account)?.['name'] === name);
}

describeWithCluster('accounts that come and go', (cluster) => {
  it('are seen at once, and no operation of another account fails meanwhile', async () => {
    await using namespace = await createNamespace('changing');
    const kept = { name: 'kept', kubeconfigFile: cluster.kubeconfig, namespaces: [namespace.name] };
    await using system = await startSystem({ settings: { kubernetes: { accounts: [kept] } } });
    let isOver = false;
    const ended: unknown[] = [];
    const deploy = async (worker: number) => {
      for (let turn = 0; !isOver || turn === 0; turn += 1) {
        const manifest = {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: `c-${worker}` },
          data: { turn: `${turn}` },
        };
        const context = { account: 'kept', source: 'text', moniker: { app: 'web' }, manifests: [manifest] };
        const id = await system.postOperations([
          { deployManifest: { ...context, namespaceOverride: namespace.name } },
        ]);
        ended.push((await system.waitForTask(id)).status);
      }
    };
    const deploys = Promise.all([deploy(1), deploy(2)]);

    for (let index = 0; index < count; index += 1) {
      const name = `passing-${index}`;
      expect(await change(system, 'POST', name)).toBe(200);
      expect(await isListed(system, name)).toBe(true);
      expect(await change(system, 'DELETE', name)).toBe(200);
      expect(await isListed(system, name)).toBe(false);
    }
    isOver = true;
    await deploys;

    expect(ended.filter((status) => asJsonObject(status)?.['failed'] !== false)).toEqual([]);
    expect(ended.length).toBeGreaterThan(1);
  });

  it('are whole after kill -9 at any moment, and their histories have no holes', async () => {
    await using system = await startSystem({ settings: {} });
    for (let kills = 0; kills < 3; kills += 1) {
      const names = Array.from({ length: 20 }, (_, index) => `killed-${kills}-${index}`);
      const answers = new Map<string, number>();
      const posts = names.map(async (name) => {
        answers.set(name, await change(system, 'POST', name).catch(() => 0));
      });
      await Promise.race(posts);
      await system.kill('SIGKILL');
      await Promise.all(posts);
      await system.restart();

      for (const name of names) {
        const listed = await isListed(system, name);
        if (answers.get(name) === 200) expect({ name, listed }).toEqual({ name, listed: true });
        const history = await system.fetch(`/credentials/${name}/history`);
        const versions = asJsonArray(await history.json()).map((entry) => asJsonObject(entry)?.['version']);
        expect({ name, status: history.status, versions }).toEqual(
          listed ? { name, status: 200, versions: [1] } : { name, status: 404, versions: [] },
        );
      }
    }
  });
});
