import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AgentProcess, createTokenSigner, toAgentAccount } from '../support/agents/agent-process.ts';
import { makeTempDir } from '../support/run/temp-dir.ts';
import { type ApiClient, openApiClient } from './api-client.ts';
import { waitUntilShown } from './application-shown.ts';
import { type BenchApplication, deleteNamespace, makeApplication, planApplication } from './bench-world.ts';
import { type ClusterAccess, type ClusterClient, openClusterClient } from './cluster-access.ts';
import { startConnected } from './connected-agent.ts';
import { readProcessFigures } from './process-figures.ts';
import type { Measured, RowHead, RowResult } from './rows.ts';
import { startRunningSystem } from './running-system.ts';
import { measure, summarize } from './statistics.ts';

/** How much an agent keeps cached, and how often is looked. */
export interface AgentCacheSizes {
  /** Changes that are measured. */
  readonly samples: number;
  /** Deployments, each with a ReplicaSet and its pods. */
  readonly cached: { readonly deployments: number; readonly podsEach: number };
  /** Milliseconds without changes before memory is read once more, and for which processor time is then: at least 1. */
  readonly idleMs: number;
}

/** What is measured of an agent that keeps an account cached, and where. */
export interface AgentCacheOptions {
  /** Best one without controllers: they would make pods of their own. */
  readonly cluster: ClusterAccess;
  /** The server that the rows are of. */
  readonly server: string;
  readonly sizes: AgentCacheSizes;
  /** A word of lower-case letters and digits that no run on this control plane had before. */
  readonly run: string;
  tell(line: string): void;
}

/** Deployments of the application of which one changes: views of it are small. */
const changedDeployments = 10;

const account = 'edge-0';
const changeTimeoutMs = 90_000;
const changePauseMs = 5;
const minuteMs = 60_000;

/** How long the first complete cache takes and what memory it leaves, and when a change is shown, of an account with an agent. */
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
  const context = { agent, client, small, cluster: clusterClient, sizes };
  // Without 'await' all would be closed while it is being measured.
  return await measureRows(server, sizes, {
    async fill() {
      await show(large);
      await show(small);
      return { samples: [performance.now() - startedMs] };
    },
    memory: () => measureMemory(agent),
    async settled() {
      await sleep(sizes.idleMs);
      return measureMemory(agent);
    },
    idle: () => measureIdle(agent, sizes),
    changes: () => measureChanges(context),
  });
}

interface Measurements {
  readonly fill: () => Promise<Measured>;
  readonly memory: () => Promise<Measured>;
  readonly settled: () => Promise<Measured>;
  readonly idle: () => Promise<Measured>;
  readonly changes: () => Promise<Measured>;
}

/** One after the other: each begins where the one before has come to. */
async function measureRows(
  server: string,
  { cached: { deployments, podsEach } }: AgentCacheSizes,
  { fill, memory, settled, idle, changes }: Measurements,
): Promise<RowResult[]> {
  const objects = deployments * (podsEach + 2);
  const heads: readonly (readonly [RowHead, () => Promise<Measured>])[] = [
    [{ name: `start of an agent to its first cache of ${objects} objects`, unit: 'ms', aim: 15_000 }, fill],
    [{ name: `memory of an agent, ${objects} objects just cached`, unit: 'MiB', aim: 110 }, memory],
    [{ name: `memory of an agent, ${objects} objects cached a while ago`, unit: 'MiB', aim: 110 }, settled],
    [
      {
        name: `processor time of an agent that keeps ${objects} objects cached, of which none changes, a minute`,
        unit: 'ms',
        aim: 60,
      },
      idle,
    ],
    [{ name: 'a change until it is shown, through an agent', unit: 'ms', aim: 1_000 }, changes],
  ];
  const results: RowResult[] = [];
  for (const [head, measureRow] of heads) {
    try {
      results.push({ ...head, server, summary: summarize((await measureRow()).samples) });
    } catch (error) {
      results.push({ ...head, server, problem: String(error) });
    }
  }
  return results;
}

async function measureMemory({ pid }: AgentProcess): Promise<Measured> {
  return { samples: [(await readProcessFigures(pid)).memoryMiB] };
}

async function measureIdle({ pid }: AgentProcess, { idleMs }: AgentCacheSizes): Promise<Measured> {
  const before = await readProcessFigures(pid);
  await sleep(idleMs);
  const { processorMs } = await readProcessFigures(pid);
  return { samples: [((processorMs - before.processorMs) * minuteMs) / idleMs] };
}

interface ChangeContext {
  readonly client: ApiClient;
  readonly cluster: ClusterClient;
  readonly small: BenchApplication;
  readonly sizes: AgentCacheSizes;
}

/** From the API server's answer to a change of a label until the application's managers show it. */
async function measureChanges(context: ChangeContext): Promise<Measured> {
  const { cluster, small, sizes } = context;
  const path = `/apis/apps/v1/namespaces/${small.name}/deployments/${small.deployment}`;
  const samples: number[] = [];
  while (samples.length < sizes.samples) {
    const value = `at-${samples.length}-${Date.now()}`;
    await cluster.call({ method: 'PATCH', path, body: { metadata: { labels: { bench: value } } } });
    const sampleMs = await measure(() => waitForText(context, value));
    samples.push(sampleMs);
    // Changes come at any moment, not always just after one.
    await sleep(Math.random() * sampleMs);
  }
  return { samples };
}

async function waitForText({ client, small }: ChangeContext, text: string): Promise<void> {
  const path = `/applications/${small.name}/serverGroupManagers`;
  const deadline = performance.now() + changeTimeoutMs;
  while (!(await client.get(path)).includes(text)) {
    if (performance.now() > deadline) throw new Error(`GET ${path}: a change is not shown after 90 s`);
    await sleep(changePauseMs);
  }
}
