import { beforeAll, expect, it } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import { runCommand } from '#test/cli/command-line.ts';
import { createNamespace, describeWithCluster, type TestNamespace } from '#test/support/cluster/cluster.ts';
import { disposeAfterAll } from '#test/support/run/disposal.ts';
import { type System, startSystem } from '#test/support/system/system.ts';

describeWithCluster('a Busdriver in front of another one, on one cluster', ({ kubeconfig }) => {
  let here: TestNamespace;
  let there: TestNamespace;
  let front: System;
  let upstream: System;
  disposeAfterAll(() => [front, upstream, here, there]);

  beforeAll(async () => {
    [here, there] = await Promise.all([createNamespace('here'), createNamespace('there')]);
    const toAccount = (name: string, namespace: string) => ({
      ...{ name, kubeconfigFile: kubeconfig, namespaces: [namespace] },
    });
    const moved = toAccount('moved', here.name);
    upstream = await startSystem({
      settings: { kubernetes: { accounts: [moved, toAccount('kept', there.name)] } },
    });
    front = await startSystem({
      settings: { kubernetes: { accounts: [moved] }, busdriver: { upstream: { baseUrl: upstream.url } } },
    });
  });

  const toDeployment = (account: string, namespace: string): object => ({
    deployManifest: {
      ...{ account, moniker: { app: 'beside' } },
      manifests: [
        {
          ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: account, namespace } },
          spec: {
            ...{ replicas: 2, selector: { matchLabels: { app: account } } },
            template: {
              metadata: { labels: { app: account } },
              spec: { containers: [{ name: 'main', image: 'nginx' }] },
            },
          },
        },
      ],
    },
  });

  async function read(system: System, target: string): Promise<unknown> {
    const response = await system.fetch(target);
    return response.status === 200 ? response.json() : response.status;
  }

  it('deploys to both, and shows one application', async () => {
    const kept = { clientRequestId: 'kept' };
    const keptId = await front.postOperations([toDeployment('kept', there.name)], kept);
    const movedId = await front.postOperations([toDeployment('moved', here.name)]);
    expect(await front.postOperations([toDeployment('kept', there.name)], kept)).toBe(keptId);
    for (const id of [keptId, movedId]) {
      expect((await front.waitForTask(id)).status).toMatchObject({ completed: true, failed: false });
    }
    expect([await read(upstream, `/task/${movedId}`), await read(front, '/task/nobodys')]).toEqual([
      404, 404,
    ]);

    const managers = '/applications/beside/serverGroupManagers';
    await expect
      .poll(async () =>
        ((await read(front, managers)) as JsonObject[])
          .map(({ account, name, namespace }) => [account, name, namespace])
          .sort(),
      )
      .toEqual([
        ['kept', 'deployment kept', there.name],
        ['moved', 'deployment moved', here.name],
      ]);
    expect(await read(front, '/applications/beside')).toMatchObject({
      clusters: { kept: [{ name: 'deployment kept' }], moved: [{ name: 'deployment moved' }] },
    });
    await expect
      .poll(() => read(front, '/search?q=kept&type=serverGroups&pageSize=10'))
      .toMatchObject([{ results: [{ account: 'kept', application: 'beside' }] }]);
  });

  it('answers about an account that both have as the other one does', async () => {
    const words = ['compare', 'moved', '--url', front.url, '--with', upstream.url, '--output', 'json'];
    const compare = async () => {
      const { stdout } = await runCommand(words);
      return (JSON.parse(stdout) as JsonObject[]).filter(
        ({ state }) => !/^(same|known)$/.test(String(state)),
      );
    };
    await expect.poll(compare).toEqual([]);
  });

  it('passes live manifests as they are', async () => {
    const target = `/manifests/kept/${there.name}/deployment%20kept?includeEvents=false`;
    const [mine, theirs] = await Promise.all(
      [front, upstream].map(async (system) => (await system.fetch(target)).text()),
    );
    // Orca reads doubles.
    expect(mine).toContain('"replicas":2.0');
    expect(JSON.parse(mine ?? '').manifest.spec).toEqual(JSON.parse(theirs ?? '').manifest.spec);
  });

  it('keeps what is its own while the other one is away', async () => {
    await upstream.kill('SIGKILL');
    const id = await front.postOperations([toDeployment('moved', here.name)]);
    expect((await front.waitForTask(id)).status).toMatchObject({ failed: false });
    const response = await front.fetch('/applications/beside/serverGroupManagers');
    expect(response.headers.get('x-busdriver-partial')).toBe('upstream');
    expect(await response.json()).toMatchObject([{ account: 'moved' }]);
    const refused = await front.fetch('/kubernetes/ops', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify([toDeployment('kept', there.name)]),
    });
    expect(refused.status).toBe(503);
    expect(await front.readLog()).toContain('the Clouddriver upstream does not answer');
  });
});
