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
/** Milliseconds within which an operation of the dead account fails: it is asked for fourteen seconds whether it is alive. */
const deadlineMs = 25_000;

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

    const alone = await measureAll(system, () => deploy('healthy', healthyCount));
    const failing = deploy('dead', deadCount).then((ids) => endAll(system, ids));
    const beside = await measureAll(system, () => deploy('healthy', healthyCount));
    const failed = await failing;
    // By now the server is known to be dead: any number of operations leaves the workers free.
    const failingAtOnce = deploy('dead', 60).then((ids) => endAll(system, ids));
    const besideMany = await measureAll(system, () => deploy('healthy', healthyCount));
    await failingAtOnce;

    for (const task of [...failed.tasks, ...(await failingAtOnce).tasks]) {
      expect(task.status.failed).toBe(true);
      expect(task.resultObjects[0]?.['message']).toMatch(
        /^Deploying configMap .* failed: account "dead" .*no answer from http:\/\/127\.0\.0\.1:\d+: it answers nothing/,
      );
    }
    expect(failed.durationMs).toBeLessThan(deadlineMs);
    for (const { tasks } of [alone, beside, besideMany]) {
      expect(tasks.filter(({ status }) => status.failed)).toEqual([]);
    }
    console.log(
      `ten deploys alone, beside a dead server: ${[alone, beside, besideMany].map(({ durationMs }) => `${Math.round(durationMs)} ms`)}`,
    );
    for (const { durationMs } of [beside, besideMany]) {
      expect(durationMs).toBeLessThan(3 * alone.durationMs + 4_000);
    }
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

interface Measured {
  readonly tasks: readonly SystemTask[];
  readonly durationMs: number;
}

async function measureAll(system: System, post: () => Promise<string[]>): Promise<Measured> {
  const startMs = performance.now();
  const { tasks } = await endAll(system, await post());
  return { tasks, durationMs: performance.now() - startMs };
}

async function endAll(system: System, ids: readonly string[]): Promise<Measured> {
  const startMs = performance.now();
  const tasks: SystemTask[] = [];
  for (const id of ids) tasks.push(await system.waitForTask(id, { timeoutMs: 60_000 }));
  return { tasks, durationMs: performance.now() - startMs };
}

async function startDeadServer(): Promise<{ readonly kubeconfig: string } & AsyncDisposable> {
  const listening = await listen(createServer((socket) => socket.on('error', () => undefined).resume()));
  return { ...listening, kubeconfig: toKubeconfig({ server: listening.url }, {}) };
}
