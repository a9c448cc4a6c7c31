import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AgentProcess, createTokenSigner, toAgentAccount } from '#test/support/agents/agent-process.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { type ApiClient, openApiClient } from './api-client.ts';
import { waitForText, waitUntilShown } from './application-shown.ts';
import { type BenchApplication, deleteNamespace, makeApplication, planApplication } from './bench-world.ts';
import { type ClusterAccess, type ClusterClient, openClusterClient } from './cluster-access.ts';
import { startConnected } from './connected-agent.ts';
import { readProcessFigures } from './process-figures.ts';
import { type Measured, measureAlone, type Row, type RowResult } from './rows.ts';
import { startRunningSystem } from './running-system.ts';
import { measure } from './statistics.ts';

export interface AgentCacheSizes {
  readonly samples: number;
  /** Deployments, each with a ReplicaSet and its pods. */
  readonly cached: { readonly deployments: number; readonly podsEach: number };
  /** Milliseconds without changes before memory is read once more, and for which processor time is then: at least 1. */
  readonly idleMs: number;
}

export interface AgentCacheOptions {
  /** Best one without controllers: they would make pods of their own. */
  readonly cluster: ClusterAccess;
  readonly server: string;
  readonly sizes: AgentCacheSizes;
  /** A word of lower-case letters and digits that no run on this control plane had before. */
  readonly run: string;
  tell(line: string): void;
}

/** Deployments of the application of which one changes: views of it are small. */
const changedDeployments = 10;

const account = 'edge-0';
const minuteMs = 60_000;

export async function measureAgentCache(options: AgentCacheOptions): Promise<RowResult[]> {
  const { cluster, run, sizes, server, tell } = options;
  await using stack = new AsyncDisposableStack();
  const clusterClient = stack.use(await openClusterClient(cluster));
  const large = planApplication({ run: `${run}l`, ...sizes.cached });
  const small = planApplication({ run: `${run}s`, deployments: changedDeployments, podsEach: 1 });
  for (const application of [large, small]) {
    stack.defer(() => deleteNamespace(clusterClient, application.name));
    await makeApplication(application, { cluster, client: clusterClient, tell });
  }
  const dir = stack.use(await makeTempDir());
  const signer = await createTokenSigner();
  const namespaces = [large.name, small.name];
  const system = stack.use(
    await startRunningSystem({
      ...{ dir: join(dir.path, 'system'), kubeconfig: cluster.kubeconfig },
      // The account that the system itself keeps cached has next to nothing.
      account: { namespaces: ['default'] },
      accounts: [{ ...toAgentAccount(account, signer), namespaces }],
      settings: { busdriver: { agents: { enabled: true } } },
    }),
  );
  const client = stack.use(openApiClient(system.url));
  const shownBy = { account, isPeer: false, findEnd: () => system.findEnd() };
  const show = (application: BenchApplication) => waitUntilShown({ server: shownBy, client, application });
  tell('measuring an agent that keeps an account cached');
  const startedMs = performance.now();
  const agent = stack.use(await startConnected({ system, signer, cluster }, [account]));
  const fill = async () => {
    await show(large);
    await show(small);
    return performance.now() - startedMs;
  };
  // Without 'await' all would be closed while it is being measured.
  return await measureAlone(server, createRows(sizes), {
    ...{ agent, client, small, cluster: clusterClient, sizes, fill },
  });
}

function createRows({ cached: { deployments, podsEach }, idleMs }: AgentCacheSizes): Row<CacheContext>[] {
  const objects = `${deployments * (podsEach + 2)} objects`;
  const kept = `processor time of an agent that keeps ${objects} cached, of which none changes, a minute`;
  return [
    {
      ...{ name: `start of an agent to its first cache of ${objects}`, unit: 'ms', aim: 15_000 },
      measure: async ({ fill }) => ({ samples: [await fill()] }),
    },
    {
      ...{ name: `memory of an agent, ${objects} just cached`, unit: 'MiB', aim: 110 },
      measure: ({ agent }) => measureMemory(agent),
    },
    {
      ...{ name: `memory of an agent, ${objects} cached a while ago`, unit: 'MiB', aim: 110 },
      measure: ({ agent }) => sleep(idleMs).then(() => measureMemory(agent)),
    },
    { name: kept, unit: 'ms', aim: 60, measure: measureIdle },
    { name: 'a change until it is shown, through an agent', unit: 'ms', aim: 1_000, measure: measureChanges },
  ];
}

async function measureMemory({ pid }: AgentProcess): Promise<Measured> {
  return { samples: [(await readProcessFigures(pid)).memoryMiB] };
}

async function measureIdle({ agent: { pid }, sizes: { idleMs } }: CacheContext): Promise<Measured> {
  const before = await readProcessFigures(pid);
  await sleep(idleMs);
  const { processorMs } = await readProcessFigures(pid);
  return { samples: [((processorMs - before.processorMs) * minuteMs) / idleMs] };
}

interface CacheContext {
  readonly agent: AgentProcess;
  fill(): Promise<number>;
  readonly client: ApiClient;
  readonly cluster: ClusterClient;
  readonly small: BenchApplication;
  readonly sizes: AgentCacheSizes;
}

/** From the API server's answer to a change of a label until the application's managers show it. */
async function measureChanges(context: CacheContext): Promise<Measured> {
  const { cluster, small, sizes } = context;
  const path = `/apis/apps/v1/namespaces/${small.name}/deployments/${small.deployment}`;
  const samples: number[] = [];
  while (samples.length < sizes.samples) {
    const value = `at-${samples.length}-${Date.now()}`;
    await cluster.call({ method: 'PATCH', path, body: { metadata: { labels: { bench: value } } } });
    const sampleMs = await measure(() => waitForText(context.client, small, value));
    samples.push(sampleMs);
    // Changes come at any moment, not always just after one.
    await sleep(Math.random() * sampleMs);
  }
  return { samples };
}
