import { expect } from 'vitest';
import { listShown, makeDeployment } from '#test/support/agents/cached-account.ts';
import { createNamespace, describeWithCluster } from '#test/support/cluster/cluster.ts';
import { itLocally } from '#test/support/system/subject.ts';
import { type System, startSystem } from '#test/support/system/system.ts';

interface ShownAgent {
  readonly account: string;
  readonly state: string;
  readonly failures: number;
}

describeWithCluster('accounts of mode stream', ({ kubeconfig }) => {
  itLocally('there is no one process to stop')(
    'are followed all the time, also after a stop and after a death of the process',
    async () => {
      await using namespace = await createNamespace('stream');
      const account = { name: 'live', kubeconfigFile: kubeconfig, namespaces: [namespace.name] };
      const accounts = [account];
      await using system = await startSystem({ settings: { kubernetes: { enabled: true, accounts } } });

      await makeStreamed(namespace.name, 'first');
      await untilShown(system, 'first');
      // A run by schedule may have been first.
      const readAgents = async () =>
        (await (await system.fetch('/cache/introspection')).json()) as ShownAgent[];
      await expect.poll(readAgents).toMatchObject([{ account: 'live', state: 'running', failures: 0 }]);

      const stoppedAtMs = performance.now();
      await system.kill('SIGTERM');
      expect(performance.now() - stoppedAtMs).toBeLessThan(8_000);
      await makeStreamed(namespace.name, 'second');
      await system.restart();
      await untilShown(system, 'second');

      await system.kill('SIGKILL');
      await makeStreamed(namespace.name, 'third');
      await system.restart();
      // The lease of the dead worker runs out, and the schedule sends for another one.
      await untilShown(system, 'third', 150_000);
    },
  );
});

async function makeStreamed(namespace: string, name: string): Promise<void> {
  await makeDeployment(namespace, name, `streamed-${name}`);
}

async function untilShown(system: System, name: string, timeout = 20_000): Promise<void> {
  const list = () => listShown(system.url, [`streamed-${name}`, 'serverGroupManagers']);
  await expect.poll(list, { timeout, interval: 50 }).toEqual([`deployment ${name}`]);
}
