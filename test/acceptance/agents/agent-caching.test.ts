import { expect, test } from 'vitest';
import {
  type AgentProcess,
  createTokenSigner,
  findFreePort,
  startAgent,
  toAgentAccount,
} from '../../support/agents/agent-process.ts';
import { startCachingWorld } from '../../support/agents/agent-world.ts';
import { findDifferences } from '../../support/cluster/cached-cluster.ts';
import { createNamespace, describeWithCluster, requestApi } from '../../support/cluster/cluster.ts';
import type { System } from '../../support/system/system.ts';

/** A change's way into a view, on a machine that does much else; usually it takes a second. */
const shownMs = 30_000;
/** The same where a lease has to lapse before. */
const takenOverMs = 90_000;
const testMs = 240_000;

interface ShownAgent {
  readonly account: string;
  readonly name: string;
  readonly asOf?: number;
  readonly leaseOwner?: string;
  readonly totalAdditions: number;
}

/** Two agents of an account that is confined to a namespace, beside a direct account of the same. */
async function open(args: readonly string[] = [], kubeconfigs: readonly string[] = []) {
  const stack = new AsyncDisposableStack();
  const namespace = stack.use(await createNamespace('cached')).name;
  const signer = await createTokenSigner();
  const edge = { ...toAgentAccount('edge', signer), namespaces: [namespace] };
  return {
    namespace,
    async start(direct?: string) {
      const beside =
        direct === undefined ? [] : [{ name: 'direct', kubeconfigFile: direct, namespaces: [namespace] }];
      const { system } = stack.use(await startCachingWorld([edge, ...beside], args));
      const token = await signer.sign();
      const agents: AgentProcess[] = [];
      for (const kubeConfigFile of kubeconfigs)
        agents.push(
          stack.use(
            await startAgent({ url: system.url, token, accounts: [{ name: 'edge', kubeConfigFile }] }),
          ),
        );
      return { system, agents };
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

describeWithCluster('caching through agents', ({ kubeconfig }) => {
  test(
    'shows what a direct account of the cluster shows',
    async () => {
      await using opened = await open([], [kubeconfig, kubeconfig]);
      const { namespace } = opened;
      const { system } = await opened.start(kubeconfig);
      await untilDated(system, 'edge');
      await untilDated(system, 'direct');
      await makeDeployment(namespace, 'web');

      await expect
        .poll(() => listManagers(system), { timeout: shownMs, interval: 50 })
        .toEqual(['direct', 'edge']);
      await expect
        .poll(() => findDifferences(system, { account: 'edge', namespaces: [namespace] }), {
          timeout: shownMs,
        })
        .toEqual([]);
      for (const view of ['clusters/edge', 'serverGroups', 'serverGroupManagers', 'loadBalancers']) {
        const [edge, direct] = await Promise.all(
          ['edge', 'direct'].map((account) => readView(system, view, account)),
        );
        expect(edge).toEqual(direct);
      }
      const found = await read(system, `/search?q=web&type=serverGroupManagers&pageSize=100`);
      expect(JSON.stringify(found)).toContain('"edge"');

      await requestApi('DELETE', `${deployments(namespace)}/web`);
      await expect.poll(() => listManagers(system), { timeout: shownMs, interval: 50 }).toEqual([]);
    },
    testMs,
  );

  test(
    'shows at once what an agent deployed, and goes on when the one that follows is killed, and Busdriver',
    async () => {
      const port = await findFreePort();
      await using opened = await open(['--port', String(port)], [kubeconfig, kubeconfig]);
      const { namespace } = opened;
      const { system, agents } = await opened.start();
      await untilDated(system, 'edge');

      const id = await system.postOperations([toDeploy(namespace, 'deployed')]);
      const task = await system.waitForTask(id, { timeoutMs: takenOverMs });
      expect(task).toMatchObject({ status: { failed: false } });
      // Mostly at once: an operation waits two seconds for the cache.
      await expect
        .poll(() => listNames(system), { timeout: shownMs, interval: 50 })
        .toEqual(['deployment deployed']);

      const owner = (await listAgents(system, 'edge'))[0]?.leaseOwner ?? '';
      const victim = agents.find(({ log }) => log.includes('keeping an account cached'));
      expect(owner).toMatch(/^caching@/);
      await victim?.kill('SIGKILL');
      await system.kill('SIGKILL');
      await makeDeployment(namespace, 'meanwhile');
      await system.restart();
      // The lease of the dead one lapses, and the other goes on where it was.
      await expect
        .poll(() => listNames(system), { timeout: takenOverMs, interval: 250 })
        .toEqual(['deployment deployed', 'deployment meanwhile']);
    },
    testMs,
  );
});

/** A deploy of a Deployment. */
function toDeploy(namespace: string, name: string): object {
  const labels = { app: name };
  const manifest = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'nginx:1' }] } },
    },
  };
  return { deployManifest: { account: 'edge', moniker: { app: 'cachedshop' }, manifests: [manifest] } };
}

/** The Deployments that views have. */
async function listNames(system: System): Promise<readonly string[]> {
  const managers = (await read(system, '/applications/cachedshop/serverGroupManagers')) as { name: string }[];
  return managers.map(({ name }) => name).sort();
}

function deployments(namespace: string): string {
  return `/apis/apps/v1/namespaces/${namespace}/deployments`;
}

async function makeDeployment(namespace: string, name: string): Promise<void> {
  const labels = { app: name };
  await requestApi('POST', deployments(namespace), {
    metadata: { name, annotations: { 'moniker.spinnaker.io/application': 'cachedshop' } },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'nginx:1' }] } },
    },
  });
}

/** The accounts in which a view has the Deployment. */
async function listManagers(system: System): Promise<readonly string[]> {
  const managers = (await read(system, '/applications/cachedshop/serverGroupManagers')) as {
    account: string;
  }[];
  return Array.isArray(managers) ? managers.map(({ account }) => account).sort() : [];
}

/** What a view has of an account, as if it were another's. */
async function readView(system: System, view: string, account: string): Promise<unknown> {
  const path = `/applications/cachedshop/${view.replace('edge', account)}`;
  const answer = await read(system, path);
  const own = Array.isArray(answer) ? answer.filter((each) => each.account === account) : answer;
  return JSON.parse(JSON.stringify(own).replaceAll(account, 'one'));
}

async function read(system: System, path: string): Promise<unknown> {
  return (await system.fetch(path)).json();
}

async function listAgents(system: System, account: string): Promise<readonly ShownAgent[]> {
  const agents = (await read(system, '/cache/introspection')) as ShownAgent[];
  return agents.filter((agent) => agent.account === account);
}

/** Until all that there is of an account is cached. */
async function untilDated(system: System, account: string): Promise<void> {
  const isDated = async (): Promise<boolean> => {
    const agents = await listAgents(system, account);
    return agents.length > 0 && agents.every(({ asOf }) => asOf !== undefined);
  };
  await expect.poll(isDated, { timeout: takenOverMs }).toBe(true);
}
