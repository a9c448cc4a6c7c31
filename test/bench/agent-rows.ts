import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createConcurrencyLimit } from '#core/concurrency.ts';
import { type AgentProcess, createTokenSigner, toAgentAccount } from '#test/support/agents/agent-process.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { type ApiClient, openApiClient } from './api-client.ts';
import { deleteNamespace, makeNamespace } from './bench-world.ts';
import { type ClusterAccess, openClusterClient } from './cluster-access.ts';
import { startConnected } from './connected-agent.ts';
import { readProcessFigures } from './process-figures.ts';
import {
  type Measured,
  measureAlone,
  type Row,
  type RowResult,
  type SampleCounts,
  takeSamples,
} from './rows.ts';
import { startRunningSystem } from './running-system.ts';
import { toDeployRequest } from './sample-objects.ts';
import { measure } from './statistics.ts';

export interface AgentSizes extends SampleCounts {
  /** Accounts of an agent beyond its first one, whose memory is measured: at least 1. */
  readonly furtherAccounts: number;
  readonly starts: number;
  /** Milliseconds without work before memory is read, and for which processor time is. */
  readonly idleMs: number;
}

export interface AgentOptions {
  readonly cluster: ClusterAccess;
  readonly server: string;
  readonly sizes: AgentSizes;
  /** A word of lower-case letters and digits that no run on this control plane had before. */
  readonly run: string;
}

interface AgentContext extends AgentOptions {
  readonly client: ApiClient;
  readonly namespace: string;
  start(accounts: number): Promise<AgentProcess>;
}

const minuteMs = 60_000;

export async function measureAgents(options: AgentOptions): Promise<RowResult[]> {
  const { cluster, run, server, sizes } = options;
  await using stack = new AsyncDisposableStack();
  const clusterClient = stack.use(await openClusterClient(cluster));
  const dir = stack.use(await makeTempDir());
  const namespace = `bench${run}a`;
  await makeNamespace(clusterClient, namespace);
  stack.defer(() => deleteNamespace(clusterClient, namespace));
  const signer = await createTokenSigner();
  const names = Array.from({ length: sizes.furtherAccounts + 1 }, (_, index) => `edge-${index}`);
  const system = stack.use(
    await startRunningSystem({
      ...{ dir: join(dir.path, 'system'), kubeconfig: cluster.kubeconfig, cache: { enabled: false } },
      account: { namespaces: [namespace] },
      accounts: names.map((name) => ({ ...toAgentAccount(name, signer), namespaces: [namespace] })),
      settings: { busdriver: { agents: { enabled: true } } },
    }),
  );
  const client = stack.use(openApiClient(system.url));
  const start = (count: number) => startConnected({ system, signer, cluster }, names.slice(0, count));
  return await measureAlone(server, createRows(sizes), { ...options, client, namespace, start });
}

function createRows({ furtherAccounts }: AgentSizes): readonly Row<AgentContext>[] {
  return [
    { name: 'start of an agent to its first session', unit: 'ms', aim: 1_000, measure: measureStart },
    { name: 'deploy through an agent, new: POST to completed', unit: 'ms', aim: 60, measure: measureDeploys },
    { name: 'a manifest through an agent', unit: 'ms', aim: 40, measure: measureReads },
    {
      ...{ name: 'memory of an idle agent with one account', unit: 'MiB' },
      measure: (context) => measureMemory(context, 1),
    },
    {
      ...{ name: `memory of each of ${furtherAccounts} further accounts`, unit: 'MiB', aim: 1.5 },
      measure: measureFurther,
    },
    {
      ...{ name: 'processor time of an idle agent with one account, a minute', unit: 'ms', aim: 60 },
      measure: measureIdle,
    },
  ];
}

async function measureStart({ sizes, start }: AgentContext): Promise<Measured> {
  const samples: number[] = [];
  for (let index = 0; index <= sizes.starts; index += 1) {
    const startedMs = performance.now();
    await using _agent = await start(1);
    // The first one builds it.
    if (index > 0) samples.push(performance.now() - startedMs);
  }
  return { samples };
}

async function measureDeploys({ sizes, start, client, namespace }: AgentContext): Promise<Measured> {
  await using _agent = await start(1);
  return await takeSamples({
    ...{ ...sizes, alone: createConcurrencyLimit(1) },
    server: { readFigures: undefined },
    sample: (index) =>
      client.deploy(toDeployRequest({ account: 'edge-0', namespace, name: `agent-${index}`, revision: 1 })),
  });
}

async function measureReads({ sizes, start, client, namespace }: AgentContext): Promise<Measured> {
  await using _agent = await start(1);
  await client.deploy(toDeployRequest({ account: 'edge-0', namespace, name: 'read', revision: 1 }));
  return await takeSamples({
    ...{ ...sizes, alone: createConcurrencyLimit(1) },
    server: { readFigures: undefined },
    sample: () => measure(() => client.get(`/manifests/edge-0/${namespace}/deployment%20read`)),
  });
}

async function measureMemory({ sizes, start }: AgentContext, accounts: number): Promise<Measured> {
  await using agent = await start(accounts);
  await sleep(sizes.idleMs);
  return { samples: [(await readProcessFigures(agent.pid)).memoryMiB] };
}

async function measureFurther(context: AgentContext): Promise<Measured> {
  const { furtherAccounts } = context.sizes;
  const [one = 0] = (await measureMemory(context, 1)).samples;
  const [all = 0] = (await measureMemory(context, furtherAccounts + 1)).samples;
  return { samples: [(all - one) / furtherAccounts] };
}

async function measureIdle({ sizes: { idleMs }, start }: AgentContext): Promise<Measured> {
  await using agent = await start(1);
  await sleep(idleMs);
  const before = await readProcessFigures(agent.pid);
  await sleep(idleMs);
  const { processorMs } = await readProcessFigures(agent.pid);
  return { samples: [((processorMs - before.processorMs) * minuteMs) / idleMs] };
}
