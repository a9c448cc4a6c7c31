import { createServer } from 'node:net';
import { expect, it } from 'vitest';
import { toKubeconfig } from '#test/shared/providers/kubernetes/client/scripted-server.ts';
import { createNamespace, describeWithCluster } from '#test/support/cluster/cluster.ts';
import { listen } from '#test/support/network/listening.ts';
import { toDeploy } from '#test/support/system/config-map-deploy.ts';
import { type System, type SystemTask, startSystem } from '#test/support/system/system.ts';

/** Operations of the healthy account in each round. */
const healthyCount = 10;
/** Fewer than there are workers, so that it is the dead server alone that could be in the way. */
const deadCount = 15;
/** Milliseconds for which a server is asked whether it is alive: so long the operations of its account are under way. */
const probedMs = 14_000;

describeWithCluster('an account whose API server takes requests and never answers', (cluster) => {
  it('fails its operations soon, and holds up those of no other account', async () => {
    await using namespace = await createNamespace('dead');
    await using dead = await startDeadServer();
    const accounts = [
      { name: 'healthy', kubeconfigFile: cluster.kubeconfig },
      { name: 'dead', kubeconfigContents: dead.kubeconfig },
    ];
    const busdriver = { operations: { clusterWaitSeconds: 0 } };
    await using system = await startSystem({
      settings: { busdriver, kubernetes: { enabled: true, accounts } },
    });
    const deploy = createDeployer(system, namespace.name);

    const failing = await deploy('dead', deadCount);
    const beside = await endAll(system, await deploy('healthy', healthyCount));
    // Nobody waited for the dead server.
    expect(await countCompleted(system, failing)).toBe(0);
    const failed = await endAll(system, failing);
    // By now the server is known to be dead: any number of operations leaves the workers free.
    const startMs = performance.now();
    const failingAtOnce = await deploy('dead', 60);
    const besideMany = await endAll(system, await deploy('healthy', healthyCount));
    expect(performance.now() - startMs).toBeLessThan(probedMs);

    for (const task of [...failed, ...(await endAll(system, failingAtOnce))]) {
      expect(task.status.failed).toBe(true);
      expect(task.resultObjects[0]?.['message']).toMatch(
        /^Deploying configMap .* failed: account "dead" .*no answer from http:\/\/127\.0\.0\.1:\d+: it answers nothing/,
      );
    }
    expect([...beside, ...besideMany].filter(({ status }) => status.failed)).toEqual([]);
  });
});

function createDeployer(
  system: System,
  namespace: string,
): (account: string, count: number) => Promise<string[]> {
  let serial = 0;
  return (account, count) =>
    Promise.all(
      Array.from({ length: count }, () => {
        serial += 1;
        return system.postOperations([toDeploy(account, namespace, [`config-${serial}`])]);
      }),
    );
}

async function endAll(system: System, ids: readonly string[]): Promise<SystemTask[]> {
  const tasks: SystemTask[] = [];
  for (const id of ids) tasks.push(await system.waitForTask(id, { timeoutMs: 60_000 }));
  return tasks;
}

async function countCompleted(system: System, ids: readonly string[]): Promise<number> {
  const answers = await Promise.all(ids.map((id) => system.fetch(`/task/${id}`)));
  const tasks = (await Promise.all(answers.map((answer) => answer.json()))) as SystemTask[];
  return tasks.filter(({ status }) => status.completed).length;
}

async function startDeadServer(): Promise<{ readonly kubeconfig: string } & AsyncDisposable> {
  const listening = await listen(createServer((socket) => socket.on('error', () => undefined).resume()));
  return { ...listening, kubeconfig: toKubeconfig({ server: listening.url }, {}) };
}
