import { expect, it } from 'vitest';
import { createNamespace, describeWithCluster } from '#test/support/cluster/cluster.ts';
import { getHostileServer } from '#test/support/network/hostile-servers.ts';
import { toDeploy } from '#test/support/system/config-map-deploy.ts';
import { type System, startSystem } from '#test/support/system/system.ts';

/** On a machine that is busy enough, a large answer loses its place in memory to another before it has reached its limit. */
const tooSlow = 'came too slowly while the answers of others waited for memory';

const tooLarge = `(has more than \\d+ bytes|${tooSlow})`;

/** Of each: what a task's and a read's error say, after the account's name. */
const hostile = {
  refusing: { server: '500 with 200 KB of <', message: /HTTP 500: </ },
  exploding: { server: 'a gzip bomb', message: new RegExp(`account "exploding" .* ${tooLarge}`) },
  endless: { server: 'a body of 800 MB', message: new RegExp(`account "endless" .* ${tooLarge}`) },
  crowded: { server: '800,000 objects in a page', message: new RegExp(`account "crowded" .* ${tooLarge}`) },
  deep: {
    server: '100,000 levels of nesting',
    message: new RegExp(`account "deep".* (is nested deeper than 512 levels|${tooSlow})`),
  },
} as const;

describeWithCluster('accounts whose API servers answer too much', (cluster) => {
  it('fail by themselves, say why, and leave a healthy account alone', async () => {
    await using namespace = await createNamespace('hostile');
    await using stack = new AsyncDisposableStack();
    const accounts: object[] = [{ name: 'healthy', kubeconfigFile: cluster.kubeconfig }];
    for (const [name, { server }] of Object.entries(hostile)) {
      const { kubeconfig } = stack.use(await getHostileServer(server).start());
      accounts.push({ name, kubeconfigContents: kubeconfig });
    }
    await using system = await startSystem({ settings: { kubernetes: { enabled: true, accounts } } });

    const failing = Object.keys(hostile).map((account) => deploy(system, account, namespace.name));
    const done = await deploy(system, 'healthy', namespace.name);
    expect(done.status.failed).toBe(false);
    for (const [index, [name, { message }]] of Object.entries(hostile).entries()) {
      const task = await failing[index];
      expect(task?.status.failed, name).toBe(true);
      expect(task?.resultObjects[0]?.['message'], name).toMatch(message);
      const answer = await system.fetch(`/manifests/${name}/${namespace.name}/configMap%20one`);
      expect(answer.status, name).toBe(500);
      expect(await answer.json(), name).toMatchObject({ message: expect.stringMatching(message) });
      await expect.poll(() => findLastError(system, name)).toMatch(message);
    }
    expect(await findLastError(system, 'healthy')).toBeUndefined();
  });
});

async function deploy(system: System, account: string, namespace: string) {
  const id = await system.postOperations([toDeploy(account, namespace, ['one'])]);
  return system.waitForTask(id, { timeoutMs: 60_000 });
}

/** What the last run of the account's agent for Kubernetes' own kinds failed of. */
async function findLastError(system: System, account: string): Promise<string | undefined> {
  const agents = (await (await system.fetch('/cache/introspection')).json()) as readonly {
    readonly id: string;
    readonly lastError?: string;
  }[];
  return agents.find(({ id }) => id.startsWith(`${account}/`) && id.includes('Core'))?.lastError;
}
