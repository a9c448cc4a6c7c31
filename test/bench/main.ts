import { availableParallelism, cpus, loadavg } from 'node:os';
import path from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { getErrorMessage } from '#core/errors.ts';
import { startCluster } from '#infra/tools/test-cluster/cluster.ts';
import { tables } from '#platform/aws/tables.ts';
import { readCommit } from '#test/lab/soak-report.ts';
import { startDynamoDb } from '#test/support/engines/engine-servers.ts';
import { localClientOptions } from '#test/support/engines/local-aws-client.ts';
import { toStoreTestClient } from '#test/support/engines/store-test-client.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { measureAgentCache } from './agent-cache-rows.ts';
import { type AgentCallSizes, countAgentCalls } from './agent-calls.ts';
import { measureAgents } from './agent-rows.ts';
import { measureArtifacts } from './artifact-rows.ts';
import {
  type BenchMode,
  type BenchOptions,
  type BenchPart,
  benchHelp,
  parseBenchOptions,
} from './bench-options.ts';
import { BenchRecord } from './bench-record.ts';
import { type BenchSubject, formatTable } from './bench-report.ts';
import { type FillRunOptions, runAccounts, runBench, runFill, runImages } from './bench-run.ts';
import { toOwnName, toOwnSource, toPeerSource } from './bench-server.ts';
import { deleteNamespace, makeNamespace } from './bench-world.ts';
import { toBundleTable } from './bundle-table.ts';
import { measureBundles, measureImports } from './bundles.ts';
import { countUnits } from './cache-units.ts';
import { type ClusterAccess, loadClusterAccess, openClusterClient } from './cluster-access.ts';
import { type CycleReport, measureCycles } from './cycles.ts';
import { measureDeployed } from './deployed-rows.ts';
import { countDeployCalls, countListCalls, formatCalls, measureStarts } from './own-rows.ts';
import type { RowHead, RowResult } from './rows.ts';
import { measureV1 } from './v1-rows.ts';

const root = path.join(import.meta.dirname, '..', '..');

const sizes = {
  world: { small: 10, medium: 100, large: 1_000 },
  fill: { deployments: 5_000, podsEach: 4 },
  budgetMs: 10_000,
  warmUp: 30,
  cold: { warmUp: 8, samples: 12 },
  deploysForMemory: 400,
  wholeMs: 2_000,
  idleMs: 30_000,
  changesMs: 60_000,
  load: { clients: 16, deployments: 400, configMaps: 2_000, ramp: [64, 256, 1_024], rampMs: 5_000 },
};

/** Samples of accounts are many in little time: all their rows together take less than a minute. */
const accountSizes = { accounts: 1_000, warmUp: 10, budgetMs: 5_000 };

/** A hundred thousand tags of ten accounts, and a thousand repositories of one more. */
const imageSizes = {
  ...{ accounts: 10, repositoriesEach: 100, tagsEach: 100, wideRepositories: 1_000 },
  ...{ warmUp: 10, budgetMs: 5_000 },
};

/** A cluster of V1 as large as one of its names can be. */
const v1Sizes = {
  ...{ pods: 100, serverGroups: 1_000, namespaces: 100, idleMs: 5_000, memorySamples: 3 },
  ...{ warmUp: 10, budgetMs: 10_000 },
};

const agentSizes = {
  ...{ furtherAccounts: 100, starts: 5, idleMs: 30_000 },
  ...{ warmUp: 3, budgetMs: 60_000 },
};

/** A minute and a half is a whole number of all times after which agents ask. */
const agentCallSizes: AgentCallSizes = { settleMs: 30_000, countedMs: 90_000, changeMs: 5_000, deploys: 20 };

/** Ten thousand objects, of which each Deployment has five. */
const agentCacheSizes = { cached: { deployments: 2_000, podsEach: 3 }, idleMs: 60_000 };

const deployedSizes = { deployments: 100, warmUp: 10, budgetMs: 30_000 };

process.exitCode = await main(process.argv.slice(2));

/** Runs the command line. @returns the exit code */
async function main(args: readonly string[]): Promise<number> {
  let options: BenchOptions;
  try {
    options = parseBenchOptions(args);
  } catch (error) {
    console.error(getErrorMessage(error));
    console.error("Try 'npm run bench -- --help'.");
    return 2;
  }
  if (options.help) process.stdout.write(benchHelp);
  else if (options.instead === 'bundles') await showBundles(options);
  else if (options.instead === 'units') await showUnits();
  else await showRows(options);
  return 0;
}

async function showRows(options: BenchOptions): Promise<void> {
  const { json, write } = options;
  await using stack = new AsyncDisposableStack();
  const record = new BenchRecord({
    subject: await readSubject(options),
    linesFile: path.join(root, 'dist', 'bench.jsonl'),
    ...(write && { page: path.join(root, 'docs', 'benchmarks.md') }),
    tell: json ? tell : (line) => void process.stdout.write(`${line}\n`),
  });
  const cluster = await getCluster(options, stack);
  const { kubeconfig } = cluster;
  await measureOwnStarts(cluster, { options, record });
  const rowOptions = {
    ...{ run: createRunName(), record: (row: RowResult) => record.addRow(row), tell },
    sizes: { ...sizes, samples: options.samples },
  };
  await runBench({
    ...{ ...rowOptions, cluster, parts: options.only },
    servers: [
      ...options.modes.map((mode) => toOwnSource(mode, kubeconfig)),
      ...options.peers.map(toPeerSource),
    ],
  });
  await measureOwnRest(cluster, { options, record, rowOptions });
  const { report } = record;
  if (json) return printJson(report);
  const lines = [...formatTable(report.rows), ...formatCalls(report.calls).map((line) => `Calls of ${line}`)];
  process.stdout.write(`\n${lines.join('\n')}\n`);
}

interface OwnRows {
  readonly options: BenchOptions;
  readonly record: BenchRecord;
}

interface OwnRest extends OwnRows {
  readonly rowOptions: Omit<FillRunOptions, 'cluster' | 'servers'>;
}

async function measureOwnStarts(cluster: ClusterAccess, { options, record }: OwnRows): Promise<void> {
  const { only, modes, starts } = options;
  if (!only.includes('starts')) return;
  for (const mode of modes) {
    const head = { name: 'ready after start', unit: 'ms', server: toOwnName(mode) } as const;
    await recordProblem(record, head, async () =>
      record.addRow(await measureStarts(cluster, { mode, starts })),
    );
  }
}

/** What is ours alone: a first fill, cycles of the cache, imports of functions, calls of engines, many accounts, images. */
async function measureOwnRest(
  cluster: ClusterAccess,
  { options, record, rowOptions }: OwnRest,
): Promise<void> {
  const [mode] = options.modes;
  if (mode === undefined) return;
  const server = toOwnName(mode);
  const parts: { readonly [part in BenchPart]?: () => Promise<void> } = {
    fill: () => measureFill(options.modes, rowOptions),
    async cycles() {
      const { row, calls } = await measureOwnCycles(cluster);
      await record.addRow(row);
      await record.addCalls(calls);
    },
    async artifacts() {
      tell('measuring artifacts');
      for (const row of await measureArtifacts(cluster, server)) await record.addRow(row);
    },
    async imports() {
      tell('measuring imports');
      for (const row of await measureImports(server)) await record.addRow(row);
    },
    async v1() {
      tell('measuring the V1 provider');
      const run = createRunName();
      const v1Options = { cluster, server, run, tell, sizes: { ...v1Sizes, samples: options.samples } };
      for (const row of await measureV1(v1Options)) await record.addRow(row);
    },
    async agents() {
      tell('measuring agents');
      const agentSamples = { ...agentSizes, samples: options.samples };
      const rows = await measureAgents({ cluster, server, run: createRunName(), sizes: agentSamples });
      for (const row of rows) await record.addRow(row);
      for (const row of await measureCachingAgent(options, server)) await record.addRow(row);
      tell('counting the calls of agents');
      const callOptions = { cluster, run: createRunName(), sizes: agentCallSizes };
      await record.addCalls(await countAgentCalls(callOptions));
    },
    async deployed() {
      tell('measuring the deployed functions');
      const ownSizes = { ...deployedSizes, samples: options.samples };
      const rows = await measureDeployed({ cluster, run: createRunName(), tell, sizes: ownSizes });
      for (const row of rows) await record.addRow(row);
    },
    calls: async () => record.addCalls(await countCalls(cluster)),
    async accounts() {
      tell(`measuring ${accountSizes.accounts} accounts`);
      const { samples } = options;
      const addRow = (row: RowResult) => record.addRow(row);
      await runAccounts({ cluster, mode, sizes: { ...accountSizes, samples }, record: addRow });
      await record.addCalls(await countListCalls(cluster));
    },
    async images() {
      tell('measuring images of Docker registries');
      const { samples } = options;
      const addRow = (row: RowResult) => record.addRow(row);
      await runImages({ cluster, mode, sizes: { ...imageSizes, samples }, record: addRow });
    },
  };
  for (const [part, measurePart] of Object.entries(parts)) {
    if (!options.only.some((each) => each === part)) continue;
    await recordProblem(record, { name: part, unit: 'ms', server }, measurePart);
  }
}

/** What fails costs its own rows alone: a row says why there are none. */
async function recordProblem(
  record: BenchRecord,
  head: RowHead & { readonly server: string },
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    await record.addRow({ ...head, problem: getErrorMessage(error) });
  }
}

async function readSubject({ samples }: BenchOptions): Promise<BenchSubject> {
  return {
    commit: await readCommit(root),
    startedAtMs: Date.now(),
    node: process.version,
    processors: `${availableParallelism()} × ${cpus()[0]?.model ?? 'unknown'}`,
    load: loadavg()[0] ?? 0,
    samples,
  };
}

async function getCluster({ cluster }: BenchOptions, stack: AsyncDisposableStack): Promise<ClusterAccess> {
  if (cluster !== undefined) return loadClusterAccess(cluster);
  return stack.use(await startCluster({ report: tell }));
}

/** No two runs on a control plane shall meet. */
function createRunName(): string {
  return Date.now().toString(36);
}

async function countCalls(cluster: ClusterAccess) {
  tell('counting the calls of a deploy');
  const namespace = `bench${createRunName()}c`;
  await using client = await openClusterClient(cluster);
  await makeNamespace(client, namespace);
  const calls = await countDeployCalls(cluster, namespace);
  await deleteNamespace(client, namespace);
  return calls;
}

async function showBundles({ json }: BenchOptions): Promise<void> {
  const bundles = await measureBundles(tell);
  if (!json) process.stdout.write(`${toBundleTable(bundles)}\n`);
  printJson({ node: process.version, bundles });
}

/** A control plane of its own, without the controllers, which would make pods of their own and delete them. */
async function startBareCluster() {
  return startCluster({ args: ['--no-controller-manager', '--no-scheduler', '--no-kubelet'], report: tell });
}

async function measureCachingAgent({ samples }: BenchOptions, server: string): Promise<RowResult[]> {
  await using cluster = await startBareCluster();
  const cacheSizes = { ...agentCacheSizes, samples };
  return await measureAgentCache({ cluster, server, run: createRunName(), sizes: cacheSizes, tell });
}

async function measureFill(modes: readonly BenchMode[], rowOptions: OwnRest['rowOptions']): Promise<void> {
  await using cluster = await startBareCluster();
  const servers = modes.map((mode) => toOwnSource(mode, cluster.kubeconfig));
  await runFill({ ...rowOptions, cluster, servers });
}

async function measureOwnCycles(cluster: ClusterAccess): Promise<CycleReport> {
  const application = `bench${createRunName()}cycles`;
  await using client = await openClusterClient(cluster);
  try {
    return await measureCycles({ cluster, application, deployments: 1_000, cycles: 10, tell });
  } finally {
    await deleteNamespace(client, application);
  }
}

async function showUnits(): Promise<void> {
  await using dir = await makeTempDir();
  await using engine = await startDynamoDb({ dir: dir.path, tables });
  const client = new DynamoDBClient({ ...localClientOptions, endpoint: engine.url });
  printJson(await countUnits(toStoreTestClient(client)));
  client.destroy();
}

function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, undefined, 2)}\n`);
}

function tell(line: string): void {
  process.stderr.write(`${line}\n`);
}
