import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { createNamespace, describeWithCluster, requestApi } from '#test/support/cluster/cluster.ts';
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

      await makeDeployment(namespace.name, 'first');
      await untilShown(system, 'first');
      // A run by schedule may have been first.
      const readAgents = async () =>
        (await (await system.fetch('/cache/introspection')).json()) as ShownAgent[];
      await expect.poll(readAgents).toMatchObject([{ account: 'live', state: 'running', failures: 0 }]);

      const stoppedAtMs = performance.now();
      await system.kill('SIGTERM');
      expect(performance.now() - stoppedAtMs).toBeLessThan(8_000);
      await makeDeployment(namespace.name, 'second');
      await system.restart();
      await untilShown(system, 'second');

      await system.kill('SIGKILL');
      await makeDeployment(namespace.name, 'third');
      await system.restart();
      // The lease of the dead worker runs out, and the schedule sends for another one.
      await untilShown(system, 'third', 150_000);
    },
  );
});

async function makeDeployment(namespace: string, name: string): Promise<void> {
  const labels = { app: name };
  await requestApi('POST', `/apis/apps/v1/namespaces/${namespace}/deployments`, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, annotations: { 'moniker.spinnaker.io/application': `streamed-${name}` } },
    spec: {
      replicas: 0,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'nginx' }] } },
    },
  });
}

async function untilShown(system: System, name: string, withinMs = 10_000): Promise<void> {
  const endsAtMs = performance.now() + withinMs;
  for (;;) {
    const answer = await system.fetch(`/applications/streamed-${name}/serverGroupManagers`);
    const shown = answer.ok ? ((await answer.json()) as { name: string }[]) : [];
    if (shown.some((each) => each.name.endsWith(name))) return;
    if (performance.now() > endsAtMs) throw new Error(`${name} is not shown: ${JSON.stringify(shown)}`);
    await sleep(50);
  }
}
