import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { createNamespace, describeWithCluster, requestApi } from '#test/support/cluster/cluster.ts';
import { itLocally } from '#test/support/system/subject.ts';
import { type System, startSystem } from '#test/support/system/system.ts';

interface ShownAgent {
  readonly account: string;
  readonly mode?: string;
  readonly modeReason?: string;
  readonly modeSince?: number;
  readonly asOf?: number;
  readonly monthlyUsd?: number;
}

/** A system whose accounts name no mode, with a namespace of its own that all of them show. */
async function open(accounts: readonly string[], cache: object = {}) {
  const stack = new AsyncDisposableStack();
  const namespace = stack.use(await createNamespace('fresh'));
  return {
    namespace: namespace.name,
    async start(kubeconfigFile: string): Promise<System> {
      const list = accounts.map((name) => ({ name, kubeconfigFile, namespaces: [namespace.name] }));
      return stack.use(
        await startSystem({ settings: { kubernetes: { enabled: true, accounts: list, cache } } }),
      );
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

describeWithCluster('freshness without settings', ({ kubeconfig }) => {
  itLocally('it is about a process of its own')(
    'a change in the cluster shows at once, and who demands it waits no interval',
    async () => {
      await using opened = await open(['plain']);
      const system = await opened.start(kubeconfig);
      await until(system, ([agent]) => agent?.mode === 'stream' && agent.asOf !== undefined);
      const [agent] = await readAgents(system);
      expect(agent).toMatchObject({ account: 'plain', mode: 'stream', modeReason: 'default' });
      // On one machine it costs nothing.
      expect(agent).not.toHaveProperty('monthlyUsd');
      expect(agent?.modeSince).toBeLessThanOrEqual(Date.now());

      // An interval is 30 seconds, a watch that is not asked proves its as-of once in as many.
      for (const name of ['first', 'second', 'third']) {
        await makeDeployment(opened.namespace, name);
        const madeAtMs = performance.now();
        await untilShown(system, name);
        expect(performance.now() - madeAtMs).toBeLessThan(5_000);
      }
      for (const name of ['fourth', 'fifth', 'sixth']) {
        await makeDeployment(opened.namespace, name);
        const askedAtMs = performance.now();
        const answer = await read(system, name, { 'cache-control': 'max-age=0' });
        expect(performance.now() - askedAtMs).toBeLessThan(6_000);
        expect(await answer.json()).toMatchObject([{ name: `deployment ${name}` }]);
        expect(Number(answer.headers.get('age'))).toBeLessThan(6);
      }
    },
  );

  itLocally('it is about a process of its own')(
    'what is beyond the limit is run by turns, and says so',
    async () => {
      await using opened = await open(['one', 'other'], { streamedAccountsMax: 1 });
      const system = await opened.start(kubeconfig);
      await until(system, (agents) => agents.length === 2 && agents.every(({ asOf }) => asOf !== undefined));
      const shown = (await readAgents(system)).map(({ mode, modeReason }) => `${mode} ${modeReason}`);
      expect(shown.sort()).toEqual(['interval limit', 'stream default']);
      await makeDeployment(opened.namespace, 'shown');
      const answer = await read(system, 'shown', { 'cache-control': 'max-age=0' });
      const accounts = ((await answer.json()) as { account: string }[]).map(({ account }) => account);
      expect(accounts.sort()).toEqual(['one', 'other']);
    },
  );
});

async function readAgents(system: System): Promise<readonly ShownAgent[]> {
  return (await (await system.fetch('/cache/introspection')).json()) as ShownAgent[];
}

async function until(system: System, check: (agents: readonly ShownAgent[]) => boolean): Promise<void> {
  const endsAtMs = performance.now() + 60_000;
  for (;;) {
    const agents = await readAgents(system);
    if (check(agents)) return;
    if (performance.now() > endsAtMs) throw new Error(`agents stay as they are: ${JSON.stringify(agents)}`);
    await sleep(100);
  }
}

function read(system: System, name: string, headers: { readonly [name: string]: string }): Promise<Response> {
  return system.fetch(`/applications/fresh-${name}/serverGroupManagers`, { headers });
}

async function untilShown(system: System, name: string) {
  const endsAtMs = performance.now() + 60_000;
  while (performance.now() < endsAtMs) {
    const answer = await read(system, name, {});
    if (answer.ok && ((await answer.json()) as object[]).length > 0) return;
    await sleep(20);
  }
  throw new Error(`${name} is not shown`);
}

async function makeDeployment(namespace: string, name: string): Promise<void> {
  const labels = { app: name };
  await requestApi('POST', `/apis/apps/v1/namespaces/${namespace}/deployments`, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, annotations: { 'moniker.spinnaker.io/application': `fresh-${name}` } },
    spec: {
      replicas: 0,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'nginx' }] } },
    },
  });
}
