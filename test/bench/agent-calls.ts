import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTokenSigner, type TokenSigner, toAgentAccount } from '#test/support/agents/agent-process.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { openApiClient } from './api-client.ts';
import { deleteNamespace, makeNamespace } from './bench-world.ts';
import { type CallCounter, startCallCounter } from './call-counter.ts';
import { type ClusterAccess, type ClusterClient, openClusterClient } from './cluster-access.ts';
import { startConnected } from './connected-agent.ts';
import type { CallTable } from './own-rows.ts';
import { type CallCounts, type RunningSystem, startRunningSystem } from './running-system.ts';
import { toDeployment, toDeployRequest } from './sample-objects.ts';

export interface AgentCallSizes {
  /** Milliseconds before calls of agents that have nothing to do are counted: what is cached is complete by then. */
  readonly settleMs: number;
  /** Milliseconds for which calls are counted. */
  readonly countedMs: number;
  /** Milliseconds between two changes. */
  readonly changeMs: number;
  readonly deploys: number;
}

export interface AgentCallOptions {
  readonly cluster: ClusterAccess;
  /** A word of lower-case letters and digits that no run on this control plane had before. */
  readonly run: string;
  readonly sizes: AgentCallSizes;
}

const minuteMs = 60_000;
const account = 'edge';

interface Counting extends AgentCallOptions {
  readonly client: ClusterClient;
  readonly namespace: string;
  readonly signer: TokenSigner;
  readonly stack: AsyncDisposableStack;
}

/**
 * Counts what agents with the default settings ask of Busdriver, seen from outside, by the function that answers: an agent whose account
 * is not cached, one that keeps its account cached while nothing changes and while something does, its replica, and a deploy; and what the
 * stores are asked for the first.
 */
export async function countAgentCalls(options: AgentCallOptions): Promise<CallTable> {
  const { cluster, run, sizes } = options;
  await using stack = new AsyncDisposableStack();
  const client = stack.use(await openClusterClient(cluster));
  const namespace = `bench${run}n`;
  await makeNamespace(client, namespace);
  stack.defer(() => deleteNamespace(client, namespace));
  const counting = { ...options, client, namespace, signer: await createTokenSigner(), stack };
  const plain = await startSystem(counting, { enabled: false });
  const caching = await startSystem(counting, { enabled: true });
  await sleep(sizes.settleMs);
  const before = await countFor(counting, { system: plain, counters: [] });
  const idle = await startCounted(counting, plain);
  const keeping = await startCounted(counting, caching);
  await sleep(sizes.settleMs);
  const quiet = await countFor(counting, { system: plain, counters: [idle, keeping] });
  const standing = await startCounted(counting, caching);
  await sleep(sizes.settleMs);
  const beside = await countFor(counting, { system: plain, counters: [standing] });
  const busy = await countFor(counting, { system: plain, counters: [keeping] }, changeFor);
  return {
    'a minute of an agent whose account is not cached': quiet.functions[0] ?? {},
    '… of the stores for it': subtract(quiet.stores, before.stores),
    'a minute of an agent that keeps an account cached in which nothing changes': quiet.functions[1] ?? {},
    [`a minute of one in whose account an object changes each ${sizes.changeMs / 1_000} s`]:
      busy.functions[0] ?? {},
    'a minute of its replica, which stands by': beside.functions[0] ?? {},
    'a deploy through an agent whose account is not cached': await countDeploys(counting, plain, idle),
  };
}

async function startSystem(counting: Counting, cache: object): Promise<RunningSystem> {
  const { cluster, namespace, signer, stack } = counting;
  const dir = stack.use(await makeTempDir());
  return stack.use(
    await startRunningSystem({
      ...{ dir: join(dir.path, 'system'), kubeconfig: cluster.kubeconfig, cache },
      account: { namespaces: [namespace] },
      accounts: [{ ...toAgentAccount(account, signer), namespaces: [namespace] }],
      settings: { busdriver: { agents: { enabled: true } } },
      counting: true,
    }),
  );
}

async function startCounted(
  { cluster, signer, stack }: Counting,
  { url }: Pick<RunningSystem, 'url'>,
): Promise<CallCounter> {
  const counter = stack.use(await startCallCounter(url));
  stack.use(await startConnected({ system: counter, signer, cluster }, [account]));
  return counter;
}

interface Counted {
  readonly system: Pick<RunningSystem, 'takeCounts'>;
  readonly counters: readonly CallCounter[];
}

/** The calls of a minute, counted for longer. @param work done meanwhile. Default: nothing */
async function countFor(
  counting: Counting,
  { system, counters }: Counted,
  work: (counting: Counting) => Promise<void> = () => sleep(counting.sizes.countedMs),
): Promise<{ readonly stores: CallCounts; readonly functions: readonly CallCounts[] }> {
  const takeAll = async () => ({
    functions: counters.map((counter) => Object.fromEntries(counter.takeCounts())),
    stores: await system.takeCounts(),
  });
  await takeAll();
  await work(counting);
  const { functions, stores } = await takeAll();
  const minutes = counting.sizes.countedMs / minuteMs;
  return { stores: divide(stores, minutes), functions: functions.map((counts) => divide(counts, minutes)) };
}

function divide(counts: CallCounts, by: number): CallCounts {
  return Object.fromEntries(
    Object.entries(counts).map(([name, count]) => [name, Math.round((count / by) * 10) / 10]),
  );
}

/** What is more than before, of the calls that cost something: of queues it is asked as often without agents. */
function subtract(counts: CallCounts, before: CallCounts): CallCounts {
  const more = Object.entries(counts).map(([name, count]) => [name, count - (before[name] ?? 0)] as const);
  return divide(Object.fromEntries(more.filter(([name]) => /Item$|^Query$/.test(name))), 1);
}

async function changeFor({ client, namespace, sizes }: Counting): Promise<void> {
  const path = `/apis/apps/v1/namespaces/${namespace}/deployments`;
  const untilMs = performance.now() + sizes.countedMs;
  const { spec, metadata, ...type } = toDeployment({ namespace, name: 'changing', revision: 1 });
  const annotations = { 'moniker.spinnaker.io/application': namespace };
  // Without pods nothing else changes.
  const body = { ...type, metadata: { ...metadata, annotations }, spec: { ...spec, replicas: 0 } };
  await client.call({ method: 'POST', path, body });
  for (let value = 1; performance.now() < untilMs; value += 1) {
    await sleep(Math.min(sizes.changeMs, Math.max(0, untilMs - performance.now())));
    const body = { metadata: { labels: { value: String(value) } } };
    await client.call({ method: 'PATCH', path: `${path}/changing`, body });
  }
}

/** Questions for work come by the clock, whether or not something is deployed: they are left out. */
async function countDeploys(
  { namespace, sizes }: Counting,
  { url }: Pick<RunningSystem, 'url'>,
  counter: CallCounter,
): Promise<CallCounts> {
  await using client = openApiClient(url);
  const deploy = (name: string) => client.deploy(toDeployRequest({ account, namespace, name, revision: 1 }));
  await deploy('counted-first');
  counter.takeCounts();
  for (let index = 0; index < sizes.deploys; index += 1) await deploy(`counted-${index}`);
  const { 'list-work': _, ...counts } = divide(Object.fromEntries(counter.takeCounts()), sizes.deploys);
  return counts;
}
