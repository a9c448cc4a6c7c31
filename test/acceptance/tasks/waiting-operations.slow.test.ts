import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { BatchV1Api } from '@kubernetes/client-node';
import { expect, it } from 'vitest';
import { mapConcurrently } from '#core/concurrency.ts';
import { createJob } from '#test/shared/providers/kubernetes/manifests.ts';
import { startApiProxy } from '#test/support/cluster/api-proxy.ts';
import { createNamespace, describeWithCluster } from '#test/support/cluster/cluster.ts';
import { openApi } from '#test/support/cluster/cluster-api.ts';
import { startClosableDoor } from '#test/support/network/closable-door.ts';
import { chooseSize } from '#test/support/run/test-size.ts';
import { toDeploy } from '#test/support/system/config-map-deploy.ts';
import { type System, startSystem } from '#test/support/system/system.ts';

const waitingCount = chooseSize({ short: 60, long: 1_000 });
const nearCount = 10;
/** On a busy machine the stores may take longer than a caller is let wait. */
const postsMax = 10;
/** Each is looked at each 15 seconds, on a machine that does much else. */
const looksMs = 180_000;

describeWithCluster('operations of an account that is down', (cluster) => {
  it('wait without delaying those of another account, and run once each when it is back', async () => {
    await using namespace = await createNamespace('waiting');
    const kubeconfig = await readFile(cluster.kubeconfig, 'utf8');
    const [address = '', port = ''] = /https:\/\/127\.0\.0\.1:(\d+)/.exec(kubeconfig) ?? [];
    await using door = await startClosableDoor(Number(port));
    const accounts = [
      { name: 'near', kubeconfigFile: cluster.kubeconfig },
      { name: 'behind', kubeconfigContents: kubeconfig.replace(address, `https://127.0.0.1:${door.port}`) },
    ];
    // Longer than the test may take on a busy machine.
    const busdriver = { operations: { clusterWaitSeconds: 3_600 } };
    await using system = await startSystem({ settings: { busdriver, kubernetes: { accounts } } });

    await door.shut();
    await awaitDown(system, 'behind');
    const numbers = Array.from({ length: waitingCount }, (_, number) => number);
    const waiting = await mapConcurrently(numbers, 8, () => deployJob(system, 'behind', namespace.name));
    const delays: number[] = [];
    for (let done = 0; done < nearCount; done += 1) {
      const startMs = performance.now();
      const task = await system.waitForTask(await deployJob(system, 'near', namespace.name));
      delays.push(performance.now() - startMs);
      expect(task.status).toMatchObject({ completed: true, failed: false });
    }
    console.log(
      `slowest of ${nearCount} deploys beside ${waitingCount} that wait: ${Math.round(Math.max(...delays))} ms`,
    );
    expect(delays.toSorted((one, other) => one - other)[nearCount / 2]).toBeLessThan(2_000);
    await door.open();
    for (const id of waiting) {
      const task = await system.waitForTask(id, { timeoutMs: looksMs });
      expect(task.status).toMatchObject({ completed: true, failed: false });
      const waits = task.history.filter(({ status }) =>
        /^Waiting for the cluster of account behind \(since .*, until .*\)$/.test(status),
      );
      expect(waits).toHaveLength(1);
    }
    await system.idle();
    const jobs = await openApi(BatchV1Api).listNamespacedJob({ namespace: namespace.name });
    expect(jobs.items).toHaveLength(waitingCount + nearCount);
  }, 600_000);

  it('fail with the reason when they have waited long enough', async () => {
    const accounts = [{ name: 'gone', server: { host: 'http://127.0.0.1:1', bearerToken: 'none' } }];
    const busdriver = { operations: { clusterWaitSeconds: 5 } };
    await using system = await startSystem({ settings: { busdriver, kubernetes: { accounts } } });
    await awaitDown(system, 'gone');

    const startMs = performance.now();
    const task = await system.waitForTask(await deployJob(system, 'gone', 'default'), {
      timeoutMs: looksMs,
    });

    expect(performance.now() - startMs).toBeGreaterThan(4_500);
    expect(task.status.failed).toBe(true);
    expect(task.resultObjects[0]?.['message']).toMatch(
      /^account "gone" .*the connection was refused.*it is left alone since \d{4}-/,
    );
  });
});

describeWithCluster('operations whose credentials end', (cluster) => {
  it('go on where they were when others come; live reads, and an account whose never worked, fail at once', async () => {
    await using namespace = await createNamespace('late-token');
    let token: 'first' | 'expired' | 'next' = 'first';
    await using proxy = await startApiProxy(cluster, {
      refuse({ method, path }) {
        const isThird = method === 'POST' && path.endsWith('/configmaps') && countPosts() === 2;
        if (isThird && token === 'first') token = 'expired';
        return token === 'expired' ? 401 : undefined;
      },
    });
    const countPosts = () =>
      proxy.calls.filter(({ method, status }) => method === 'POST' && status === 201).length;
    await using closed = await startApiProxy(cluster, { refuse: () => 401 });
    const accounts = [
      { name: 'late', kubeconfigFile: proxy.kubeconfig },
      { name: 'wrong', kubeconfigFile: closed.kubeconfig },
    ];
    await using system = await startSystem({
      settings: { kubernetes: { accounts, cache: { enabled: false } } },
    });
    const deploy = (account: string) =>
      system.postOperations([toDeploy(account, namespace.name, ['a', 'b', 'c', 'd'])]);
    const refused = await system.waitForTask(await deploy('wrong'), { timeoutMs: 30_000 });
    expect(refused.status).toMatchObject({ completed: true, failed: true });

    const id = await deploy('late');
    const read = async () => JSON.stringify(await (await system.fetch(`/task/${id}`)).json());
    await expect.poll(read).toContain('Waiting for credentials of account late');
    const live = await system.fetch(`/manifests/late/${namespace.name}/configMap%20a`);
    expect([live.status >= 400, await live.text()]).toEqual([true, expect.stringContaining('credentials')]);

    token = 'next';
    const task = await system.waitForTask(id, { timeoutMs: looksMs });
    expect(task.status).toMatchObject({ completed: true, failed: false });
    expect(countPosts()).toBe(4);
  });
});

/** Waits until the account is known to be down; live reads find it out. */
async function awaitDown(system: System, account: string): Promise<void> {
  const read = async () => (await system.fetch(`/manifests/${account}/default/configMap%20none`)).status;
  await expect.poll(read).toBe(503);
}

/** Deploys a Job with a generated name: a second execution would be a second Job. As Orca, it posts again what got 503. */
async function deployJob(system: System, account: string, namespace: string): Promise<string> {
  const manifests = [createJob({ generateName: 'waited-', namespace })];
  const operations = [{ deployManifest: { account, moniker: { app: 'waiting' }, manifests } }];
  const clientRequestId = randomUUID();
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await system.postOperations(operations, { clientRequestId });
    } catch (error) {
      if (attempt === postsMax || !String(error).includes(': 503 ')) throw error;
    }
  }
}
