import { expect } from 'vitest';
import { listShown, makeDeployment } from '#test/support/agents/cached-account.ts';
import { createNamespace, describeWithCluster } from '#test/support/cluster/cluster.ts';
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
      await expect
        .poll(() => readAgents(system))
        .toMatchObject([{ mode: 'stream', asOf: expect.any(Number) }]);
      const [agent] = await readAgents(system);
      expect(agent).toMatchObject({ account: 'plain', mode: 'stream', modeReason: 'default' });
      // On one machine it costs nothing.
      expect(agent).not.toHaveProperty('monthlyUsd');
      expect(agent?.modeSince).toBeLessThanOrEqual(Date.now());

      // An interval is 30 seconds, a watch that is not asked proves its as-of once in as many: half of that is no interval waited for.
      for (const name of ['first', 'second', 'third']) {
        await makeFresh(opened.namespace, name);
        const madeAtMs = performance.now();
        await untilShown(system, name);
        expect(performance.now() - madeAtMs).toBeLessThan(15_000);
      }
      for (const name of ['fourth', 'fifth', 'sixth']) {
        await makeFresh(opened.namespace, name);
        const askedAtMs = performance.now();
        const answer = await read(system, name, { 'cache-control': 'max-age=0' });
        expect(performance.now() - askedAtMs).toBeLessThan(15_000);
        expect(await answer.json()).toMatchObject([{ name: `deployment ${name}` }]);
        expect(Number(answer.headers.get('age'))).toBeLessThan(15);
      }
    },
  );

  itLocally('it is about a process of its own')(
    'what is beyond the limit is run by turns, and says so',
    async () => {
      await using opened = await open(['one', 'other'], { streamedAccountsMax: 1 });
      const system = await opened.start(kubeconfig);
      const asOf = expect.any(Number);
      await expect.poll(() => readAgents(system)).toMatchObject([{ asOf }, { asOf }]);
      const shown = (await readAgents(system)).map(({ mode, modeReason }) => `${mode} ${modeReason}`);
      expect(shown.sort()).toEqual(['interval limit', 'stream default']);
      await makeFresh(opened.namespace, 'shown');
      const answer = await read(system, 'shown', { 'cache-control': 'max-age=0' });
      const accounts = ((await answer.json()) as { account: string }[]).map(({ account }) => account);
      expect(accounts.sort()).toEqual(['one', 'other']);
    },
  );
});

async function readAgents(system: System): Promise<readonly ShownAgent[]> {
  return (await (await system.fetch('/cache/introspection')).json()) as ShownAgent[];
}

function read(system: System, name: string, headers: { readonly [name: string]: string }): Promise<Response> {
  return system.fetch(`/applications/fresh-${name}/serverGroupManagers`, { headers });
}

async function untilShown(system: System, name: string): Promise<void> {
  const list = () => listShown(system.url, [`fresh-${name}`, 'serverGroupManagers']);
  await expect.poll(list, { interval: 20 }).toEqual([`deployment ${name}`]);
}

async function makeFresh(namespace: string, name: string): Promise<void> {
  await makeDeployment(namespace, name, `fresh-${name}`);
}
