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
import { countDeployCalls, countListCalls } from './own-rows.ts';
import type { RowResult } from './rows.ts';
import { measureV1 } from './v1-rows.ts';

const root = path.resolve(import.meta.dirname, '../..');

const sizes = {
  ...{ samples: 2, warmUp: 1, budgetMs: 10_000, deploysForMemory: 45, idleMs: 0, wholeMs: 100, changesMs: 0 },
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

/** Parts that nobody measures by default are run by `npm run soak`. */
const itLong = it.runIf(chooseSize({ short: false, long: true }));

describeWithCluster('a run of the bench', (cluster) => {
  it('measures each row of Busdriver, says of a peer what it does not serve, and writes all of it', async () => {
    await using dir = await makeTempDir();
    await using peer = await startPeer();
    const [page, linesFile] = [path.join(dir.path, 'benchmarks.md'), path.join(dir.path, 'bench.jsonl')];
    await writeFile(page, `# Benchmarks\n\n${runsMarker}\n`);
    const lines: string[] = [];
    const subject = { commit: 'abc123', startedAtMs: 0, node: 'v24', processors: '2', load: 0, samples: 2 };
    const record = new BenchRecord({ subject, linesFile, page, tell: (line) => void lines.push(line) });
    const run = Date.now().toString(36);
    const shown: boolean[] = [];
    await runBench({
      ...{ cluster, sizes, run, parts: ['deploys', 'load', 'reads'], tell: () => undefined },
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
      'deploy, new: POST to completed',
      'deploy, unchanged: POST to completed',
      'deploy, changed: POST to completed',
      'processor time of one deploy, with its polls',
      'memory after 49 deploys',
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
    expect(problems).toHaveLength(30);
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
  }, 180_000);

  it('measures the first fill', async () => {
    const rows: RowResult[] = [];
    await runFill({
      ...{ cluster, sizes, run: `${Date.now().toString(36)}f`, tell: () => undefined },
      servers: [toOwnSource('interval', cluster.kubeconfig)],
      record: async (row) => void rows.push(row),
    });
    expect(rows.map(({ name, summary, problem }) => problem ?? (summary ? name : ''))).toEqual([
      'first fill of the cache, 5 Deployments with 2 pods each',
      'serverGroups, 5 Deployments with 2 pods each',
      'memory, 5 Deployments with 2 pods each',
    ]);
  });

  itLong('measures agents', async () => {
    const agentSizes = { ...sizes, furtherAccounts: 2, starts: 1, idleMs: 500 };
    const run = Date.now().toString(36);
    const rows = await measureAgents({ cluster, server: 'own', run, sizes: agentSizes });

    expect(rows.map(({ name, summary, problem }) => problem ?? (summary ? name : ''))).toEqual([
      'start of an agent to its first session',
      'deploy through an agent, new: POST to completed',
      'a manifest through an agent',
      'memory of an idle agent with one account',
      'memory of each of 2 further accounts',
      'processor time of an idle agent with one account, a minute',
    ]);
    const [start, deploy, read, memory] = rows.map(({ summary }) => summary?.median ?? 0);
    for (const each of [start, deploy, read]) expect(each).toBeGreaterThan(0);
    expect(memory).toBeGreaterThan(10);
  });

  itLong(
    'measures an agent that keeps an account cached',
    async () => {
      const cacheSizes = { samples: 2, cached: { deployments: 3, podsEach: 2 }, idleMs: 500 };
      const run = Date.now().toString(36);
      const tell = () => undefined;
      const rows = await measureAgentCache({ cluster, server: 'own', run, sizes: cacheSizes, tell });

      expect(rows.map(({ name, summary, problem }) => problem ?? (summary ? name : ''))).toEqual([
        'start of an agent to its first cache of 12 objects',
        'memory of an agent, 12 objects just cached',
        'memory of an agent, 12 objects cached a while ago',
        'processor time of an agent that keeps 12 objects cached, of which none changes, a minute',
        'a change until it is shown, through an agent',
      ]);
      // In so short a time it may have done nothing.
      const [idle] = rows.splice(3, 1);
      expect(idle?.summary?.median).toBeGreaterThanOrEqual(0);
      for (const { summary } of rows) expect(summary?.median).toBeGreaterThan(0);
    },
    180_000,
  );

  itLong(
    'counts the calls of agents by the functions that answer',
    async () => {
      const callSizes = { settleMs: 1_000, countedMs: 6_000, changeMs: 1_000, deploys: 2 };
      const calls = await countAgentCalls({ cluster, run: Date.now().toString(36), sizes: callSizes });
      const [, , , changing, , deploy] = Object.values(calls);
      // Its claim is kept, and what changed is written; a deploy is leased and committed, once each.
      expect(changing?.['write-changes']).toBeGreaterThan(0);
      expect(changing?.['keep-cache']).toBeGreaterThan(0);
      expect(deploy).toMatchObject({ 'take-task': 1, 'commit-task': 1 });
      expect(deploy).not.toHaveProperty('list-work');
    },
    180_000,
  );

  itLong('measures many accounts', async () => {
    const rows: RowResult[] = [];
    const record = async (row: RowResult) => void rows.push(row);
    await runAccounts({ cluster, sizes, mode: 'default', record });

    expect(rows.map(({ name, summary, problem }) => problem ?? (summary ? name : ''))).toEqual([
      '/credentials, 4 accounts',
      '/credentials?expand=true, 4 accounts',
      'size of /credentials, 4 accounts',
      'size of /credentials for who accepts gzip, 4 accounts',
      'an added account until it is shown, 4 accounts',
      'an added account until another process shows it, 4 accounts',
      'a token broker a minute, 4 accounts of one provider',
    ]);
    const [list, expanded, size, gzipped, , , calls] = rows.map(({ summary }) => summary?.median ?? 0);
    expect(list).toBeGreaterThan(0);
    expect(expanded).toBeGreaterThan(0);
    expect(size).toBeGreaterThan(0.1);
    expect(gzipped).toBeLessThanOrEqual(size ?? 0);
    expect(calls).toBe(1);
  });

  itLong('measures images of Docker registries', async () => {
    const rows: RowResult[] = [];
    const record = async (row: RowResult) => void rows.push(row);
    const images = { ...sizes, accounts: 2, repositoriesEach: 3, tagsEach: 4, wideRepositories: 5 };
    await runImages({ cluster, sizes: images, mode: 'default', record });

    expect(rows.map(({ name, summary, problem }) => problem ?? (summary ? name : ''))).toEqual([
      'images/find of an account, 12 tags of 24',
      'requests of a run without changes, 5 repositories',
      'objects written of a run without changes, 5 repositories',
      'processor time of a run without changes, 5 repositories',
    ]);
    const [find, requests, writes] = rows.map(({ summary }) => summary?.median);
    expect(find).toBeGreaterThan(0);
    expect([requests, writes]).toEqual([5, 0]);
  });

  itLong(
    'measures the V1 provider',
    async () => {
      const run = `${Date.now().toString(36)}v`;
      const rows = await measureV1({
        ...{ cluster, server: 'one', run, tell: () => undefined },
        sizes: { ...sizes, pods: 2, serverGroups: 3, namespaces: 2, memorySamples: 1 },
      });
      expect(rows.map(({ name, summary, problem }) => problem ?? (summary ? name : ''))).toEqual([
        'createServerGroup of a ReplicationController: POST to completed',
        'enableServerGroup of 2 pods',
        'serverGroups, 3 ReplicationControllers',
        'memory with 3 ReplicationControllers cached, above none',
        'processor time of a namespace, a registration run of 2 namespaces without changes',
        'GETs of a namespace, a registration run of 2 namespaces without changes',
        'writes, a registration run of 2 namespaces without changes',
      ]);
      const [create, enable, list, , used, gets, writes] = rows.map(({ summary }) => summary?.median ?? 0);
      for (const median of [create, enable, list, used]) expect(median).toBeGreaterThan(0);
      expect([gets, writes]).toEqual([1, 0]);
    },
    180_000,
  );

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
