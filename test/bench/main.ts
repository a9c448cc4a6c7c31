import { parseArgs } from 'node:util';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { startCluster } from '../../infra/local/cluster.ts';
import { startDynamoDb } from '../../infra/local/dynamodb.ts';
import { tables } from '../../shared/aws/tables.ts';
import { localClientOptions, openTestAccess } from '../support/local-aws-client.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { type BundleReport, measureBundles } from './bundles.ts';
import { measureCache } from './cache-rows.ts';
import { countUnits } from './cache-units.ts';
import { countDeployCalls, measureDeploys, measureReads, openApiClient, type Row } from './deploy-rows.ts';
import { openFloor } from './floor.ts';
import { type CallCounts, startRunningSystem } from './running-system.ts';
import { summarize } from './statistics.ts';
import { toBundleTable, toTable } from './table.ts';

const help = `npm run bench -- [options]

Measures Busdriver against the real control plane on this machine and prints a table, then the same as JSON. Absolute times
wander on shared machines: compare rows with the floor that was measured in the same run.

Options:
  --samples N   samples of each timed row (default 60)
  --starts N    starts of the whole system (default 7)
  --bundles     the functions' bundles alone: needs no control plane
  --cache       the cache alone: reads, freshness, idle cycles and memory
  --units       units of DynamoDB that caching costs: what docs/scale.md reckons with
  --json        print the JSON alone
  --help        this text
`;

/** Name of the calls of a caching cycle. */
const cycle = 'caching cycle without changes';

/** Everything that a run measured. */
export interface BenchReport {
  readonly node: string;
  readonly rows: readonly Row[];
  readonly calls: { readonly [kind: string]: CallCounts };
  readonly bundles: readonly BundleReport[];
}

interface Options {
  readonly samples: number;
  readonly starts: number;
}

const { values } = parseArgs({
  options: {
    samples: { type: 'string', default: '60' },
    starts: { type: 'string', default: '7' },
    bundles: { type: 'boolean', default: false },
    cache: { type: 'boolean', default: false },
    units: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) {
  process.stdout.write(help);
} else if (values.bundles) {
  const bundles = await measureBundles(tell);
  if (!values.json) process.stdout.write(`${toBundleTable(bundles)}\n`);
  process.stdout.write(`${JSON.stringify({ node: process.version, bundles }, undefined, 2)}\n`);
} else if (values.units) {
  await using dir = await makeTempDir();
  await using engine = await startDynamoDb({ dir: dir.path, tables, access: openTestAccess() });
  const client = new DynamoDBClient({ ...localClientOptions, endpoint: engine.url });
  const report = await countUnits(
    DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } }),
  );
  client.destroy();
  process.stdout.write(`${JSON.stringify(report, undefined, 2)}\n`);
} else if (values.cache) {
  await using cluster = await startCluster({ report: tell });
  const { rows, cycleCalls } = await measureCache({ cluster, n: Number(values.samples), tell });
  const report = { node: process.version, rows, calls: { [cycle]: cycleCalls }, bundles: [] };
  if (!values.json) process.stdout.write(`${toTable(report)}\n`);
  process.stdout.write(`${JSON.stringify(report, undefined, 2)}\n`);
} else {
  const report = await runBench({ samples: Number(values.samples), starts: Number(values.starts) });
  if (!values.json) process.stdout.write(`${toTable(report)}\n`);
  process.stdout.write(`${JSON.stringify(report, undefined, 2)}\n`);
}

async function runBench({ samples, starts }: Options): Promise<BenchReport> {
  await using cluster = await startCluster({ report: tell });
  const namespace = 'default';
  tell('starting the system');
  const startRows = await measureStarts(cluster.kubeconfig, starts);
  tell('counting the calls of a deploy');
  const calls = await countCalls(cluster.kubeconfig, namespace);
  tell('measuring deploys and reads');
  await using dir = await makeTempDir();
  await using system = await startRunningSystem({ kubeconfig: cluster.kubeconfig, dataDir: dir.path });
  await using client = openApiClient(system);
  await using floor = await openFloor(cluster, namespace);
  const options = { client, floor, namespace, n: samples, warmUp: 100 };
  const rows = [...startRows, ...(await measureDeploys(options)), ...(await measureReads(options))];
  const memory = summarize([await system.readMemoryMiB()]);
  rows.push({
    name: `memory after ${3 * (samples + 100)} deploys, engines included`,
    unit: 'MiB',
    summary: memory,
  });
  const cache = await measureCache({ cluster, n: samples, tell });
  tell('measuring bundles');
  const all = { rows: [...rows, ...cache.rows], calls: { ...calls, [cycle]: cache.cycleCalls } };
  return { node: process.version, ...all, bundles: await measureBundles(tell) };
}

async function measureStarts(kubeconfig: string, starts: number): Promise<Row[]> {
  const ready: number[] = [];
  const idle: number[] = [];
  await using dir = await makeTempDir();
  for (let round = 0; round <= starts; round += 1) {
    await using system = await startRunningSystem({ kubeconfig, dataDir: dir.path });
    await fetch(new URL('/health', system.url));
    // The first start makes the tables and fills the compile cache.
    if (round > 0) ready.push(system.readyMs);
    if (round > 0) idle.push(await system.readMemoryMiB());
  }
  return [
    { name: 'ready after start', unit: 'ms', summary: summarize(ready), limit: 1_500 },
    { name: 'memory when idle, engines included', unit: 'MiB', summary: summarize(idle), limit: 150 },
  ];
}

async function countCalls(kubeconfig: string, namespace: string): Promise<BenchReport['calls']> {
  await using dir = await makeTempDir();
  await using system = await startRunningSystem({ kubeconfig, dataDir: dir.path, counting: true });
  return await countDeployCalls(system, namespace);
}

function tell(line: string): void {
  process.stderr.write(`${line}\n`);
}
