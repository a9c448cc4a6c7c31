import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { buildLocal } from '#infra/tools/build/build.ts';
import { describeWithCluster, requestApi } from '#test/support/cluster/cluster.ts';
import { listen } from '#test/support/network/listening.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { chooseSize } from '#test/support/run/test-size.ts';
import { measureAgentCache } from './agent-cache-rows.ts';
import { countAgentCalls } from './agent-calls.ts';
import { measureAgents } from './agent-rows.ts';
import { BenchRecord } from './bench-record.ts';
import { runsMarker } from './bench-report.ts';
import { runAccounts, runBench, runFill, runImages } from './bench-run.ts';
import { toOwnSource, toPeerSource } from './bench-server.ts';
import { deleteNamespace, makeNamespace } from './bench-world.ts';
import { measureImports } from './bundles.ts';
import { openClusterClient } from './cluster-access.ts';
import { measureDeployed } from './deployed-rows.ts';
import { countDeployCalls, countListCalls } from './own-rows.ts';
import type { RowResult } from './rows.ts';
import { measureV1 } from './v1-rows.ts';

const root = path.resolve(import.meta.dirname, '../..');

const sizes = {
  ...{ samples: 2, warmUp: 1, budgetMs: 10_000, deploysForMemory: 50, idleMs: 0, wholeMs: 100, changesMs: 0 },
  cold: { warmUp: 1, samples: 1 },
  world: { small: 2, medium: 3, large: 4 },
  fill: { deployments: 5, podsEach: 2 },
  load: { clients: 2, deployments: 3, configMaps: 4, ramp: [3], rampMs: 100 },
  accounts: 4,
};

beforeAll(() => buildLocal({ root, outputDir: path.join(root, 'dist', 'local') }));

async function startPeer() {
  const server = createServer(({ url }, response) => {
    if (url === '/credentials') return response.end('[{"name": "dev", "type": "kubernetes"}]');
    response.writeHead(404).end('{"message": "no such route"}');
  });
  return listen(server);
}

/** The rows that a measurement records. */
async function collect(
  measure: (record: (row: RowResult) => Promise<void>) => Promise<void>,
): Promise<readonly RowResult[]> {
  const rows: RowResult[] = [];
  await measure(async (row) => void rows.push(row));
  return rows;
}

/** Parts that nobody measures by default are run by `npm run soak`. */
const itLong = it.runIf(chooseSize({ short: false, long: true }));

describeWithCluster('a run of the bench', (cluster) => {
  const [run, tell] = [Date.now().toString(36), () => undefined];

  it('measures each row of Busdriver, says of a peer what it does not serve, and writes all of it', async () => {
    await using dir = await makeTempDir();
    await using peer = await startPeer();
    const [page, linesFile] = [path.join(dir.path, 'benchmarks.md'), path.join(dir.path, 'bench.jsonl')];
    await writeFile(page, `# Benchmarks\n\n${runsMarker}\n`);
    const lines: string[] = [];
    const subject = { commit: 'abc123', startedAtMs: 0, node: 'v24', processors: '2', load: 0, samples: 2 };
    const record = new BenchRecord({ subject, linesFile, page, tell: (line) => void lines.push(line) });
    const shown: boolean[] = [];
    await runBench({
      ...{ cluster, sizes, run, parts: ['deploys', 'load', 'reads'], tell },
      servers: [toPeerSource({ name: 'peer', url: peer.url }), toOwnSource('stream', cluster.kubeconfig)],
      async record(row) {
        await record.addRow(row);
        shown.push((await readFile(page, 'utf8')).includes(`| ${row.name}, ${row.unit} |`));
      },
    });

    const { rows } = record.report;
    const find = (server: string): RowResult[] => rows.filter((row) => row.server === server);
    expect(
      find('Busdriver, stream').map(({ name, summary, problem }) => problem ?? (summary ? name : '')),
    ).toEqual([
      'memory when idle',
      ...['new, cold', 'unchanged, cold', 'changed, cold', 'new', 'unchanged', 'changed'].map(
        (kind) => `deploy, ${kind}: POST to completed`,
      ),
      'processor time of one deploy, with its polls',
      'memory after 55 deploys',
      ...[
        '3 new Deployments of one application, 2 clients',
        '4 new ConfigMaps, 2 clients',
        'new ConfigMaps, 3 clients',
        'serverGroups of 3 Deployments, 3 clients',
      ].flatMap((name) => [`${name}: done`, `${name}: 95 of 100 take at most`, `${name}: refused`]),
      'serverGroups, 3 Deployments',
      'serverGroups, 4 Deployments',
      'clusters, 4 Deployments',
      'loadBalancers of an application without any, 4 Deployments',
      'serverGroupManagers, 4 Deployments',
      "Deck's burst of six lists, 3 Deployments",
      'live manifest with events, 2 Deployments in its namespace',
      'live manifest with events, 4 Deployments in its namespace',
      'memory with 9 Deployments cached and read',
      'processor time of 0 s without calls and changes',
      'memory after 0 s without calls and changes',
      ...['search of 9 serverGroups', 'search of 27 objects of all kinds'],
      'a change in the cluster until it is shown',
    ]);
    for (const { name, summary, floor, processorMs } of find('Busdriver, stream')) {
      if (!/^processor|refused$/.test(name)) expect.soft(summary?.median, name).toBeGreaterThan(0);
      if (/^(deploy|live|serverGroup|clusters|loadBalancers|Deck)/.test(name) && !name.includes('clients')) {
        expect.soft(floor?.median, name).toBeGreaterThan(0);
        expect.soft(processorMs, name).toBeGreaterThanOrEqual(0);
      }
    }
    const problems = find('peer').map(({ problem }) => problem);
    expect(problems).toHaveLength(35);
    expect(problems).not.toContain(undefined);
    expect(problems[1]).toMatch(/^POST \/kubernetes\/ops: 404/);
    expect(shown).toEqual(rows.map(() => true));
    expect(lines).toHaveLength(rows.length);
    expect((await readFile(linesFile, 'utf8')).trim().split('\n')).toHaveLength(rows.length);
    expect(await readFile(page, 'utf8')).toContain('| deploy, new: POST to completed, ms | ≤ 24 |');
    const { items } = (await requestApi('GET', '/api/v1/namespaces')) as { items: BenchNamespace[] };
    const left = items.filter(
      ({ metadata, status }) => metadata.name.includes(run) && status.phase === 'Active',
    );
    expect(left).toEqual([]);
  });

  it('measures the first fill', async () => {
    const servers = [toOwnSource('interval', cluster.kubeconfig)];
    const rows = await collect((record) =>
      runFill({ cluster, sizes, run: `${run}f`, tell, servers, record }),
    );
    expect(rows.map(({ name, summary, problem }) => problem ?? (summary ? name : ''))).toEqual([
      'first fill of the cache, 5 Deployments with 2 pods each',
      'serverGroups, 5 Deployments with 2 pods each',
      'memory, 5 Deployments with 2 pods each',
    ]);
  });

  itLong.each<[what: string, count: number, measure: () => Promise<readonly RowResult[]>]>([
    [
      'agents',
      6,
      () =>
        measureAgents({
          ...{ cluster, server: 'own', run: `${run}a` },
          sizes: { ...sizes, furtherAccounts: 2, starts: 1, idleMs: 500 },
        }),
    ],
    [
      'an agent that keeps an account cached',
      5,
      () =>
        measureAgentCache({
          ...{ cluster, server: 'own', run: `${run}c`, tell },
          sizes: { samples: 2, cached: { deployments: 3, podsEach: 2 }, idleMs: 500 },
        }),
    ],
    ['many accounts', 7, () => collect((record) => runAccounts({ cluster, sizes, mode: 'default', record }))],
    [
      'images of Docker registries',
      4,
      () => {
        const images = { ...sizes, accounts: 2, repositoriesEach: 3, tagsEach: 4, wideRepositories: 5 };
        return collect((record) => runImages({ cluster, sizes: images, mode: 'default', record }));
      },
    ],
    [
      'the V1 provider',
      7,
      () =>
        measureV1({
          ...{ cluster, server: 'one', run: `${run}v`, tell },
          sizes: { ...sizes, pods: 2, serverGroups: 3, namespaces: 2, memorySamples: 1 },
        }),
    ],
  ])('measures %s in %i rows', async (_what, count, measure) => {
    const rows = await measure();
    expect(rows.filter(({ summary }) => summary === undefined)).toEqual([]);
    expect(rows).toHaveLength(count);
  });

  itLong('counts the calls of agents by the functions that answer', async () => {
    const callSizes = { settleMs: 1_000, countedMs: 6_000, changeMs: 1_000, deploys: 2 };
    const calls = await countAgentCalls({ cluster, run: `${run}k`, sizes: callSizes });
    const [, , , changing, , deploy] = Object.values(calls);
    // Its claim is kept, and what changed is written; a deploy is leased and committed, once each.
    expect(changing?.['write-changes']).toBeGreaterThan(0);
    expect(changing?.['keep-cache']).toBeGreaterThan(0);
    expect(deploy).toMatchObject({ 'take-task': 1, 'commit-task': 1 });
    expect(deploy).not.toHaveProperty('list-work');
  });

  itLong('measures functions as deployed no quicker than AWS lets them be', async () => {
    const rows = await measureDeployed({
      ...{ cluster, run: `${run}p`, tell },
      sizes: { ...sizes, deployments: 3, samples: 3 },
    });
    const fewest = rows.map(({ summary, problem }) => summary?.minimum ?? problem);
    const [deployed, unchanged, calls, callsUnchanged, warm, cold, coldAlone] = fewest;
    // The queue's 20 ms, and 5 for each call that waits for the one before; asking for the task is one more.
    expect.soft(deployed).toBeGreaterThan(55);
    expect.soft(unchanged).toBeGreaterThan(40);
    // Sending the message is one of them.
    expect.soft([calls, callsUnchanged]).toEqual([7, 4]);
    expect.soft(cold).toBeGreaterThan(2 * Number(warm));
    expect.soft(coldAlone).toBeGreaterThan(0);
  });

  it('counts the calls of a deploy, those of engines in the same process too', async () => {
    await using client = await openClusterClient(cluster);
    const namespace = `bench${Date.now().toString(36)}c`;
    await makeNamespace(client, namespace);
    const calls = await countDeployCalls(cluster, namespace);
    await deleteNamespace(client, namespace);
    expect(calls).toMatchObject({
      'a deploy, new': { 'Kubernetes GET': 1, 'Kubernetes POST': 1 },
      'a deploy, unchanged': { 'Kubernetes GET': 1 },
      'a deploy, changed': { 'Kubernetes GET': 1, 'Kubernetes PATCH': 1 },
    });
    expect(calls['a deploy, unchanged']).not.toHaveProperty('Kubernetes PATCH');
    expect(calls['a deploy, new']?.['UpdateItem']).toBeGreaterThan(0);
  });

  it('counts the looks whether accounts have changed, however often they are listed', async () => {
    const [calls] = Object.values(await countListCalls(cluster));
    expect(calls?.['GetItem']).toBeGreaterThan(0);
    expect(calls?.['GetItem']).toBeLessThanOrEqual(2);
  });
});

it('measures the imports that tell most', async () => {
  const rows = await measureImports('one', 1);
  const names = rows.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['import of start-operations', 'import of search']));
  expect(rows.length).toBeGreaterThanOrEqual(4);
  for (const { name, summary } of rows) expect.soft(summary?.median, name).toBeGreaterThan(1);
});

interface BenchNamespace {
  readonly metadata: { readonly name: string };
  readonly status: { readonly phase: string };
}
