import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import {
  createShop,
  createTextFixer,
  deleteShopDefinition,
} from '#test/shared/providers/kubernetes/views/live-shop.ts';
import {
  createNamespace,
  describeWithCluster,
  kubectl,
  type TestNamespace,
} from '#test/support/cluster/cluster.ts';
import { startSubject } from '#test/support/system/subject.ts';
import type { Subject } from '#test/support/system/system.ts';

const goldens = path.join(import.meta.dirname, '../../fixtures/kubernetes/views');
const account = 'prod-eu';
/** Everything that is so now. */
const now = { headers: { 'Cache-Control': 'no-cache' } };

describeWithCluster('an application out of the cache', (cluster) => {
  let namespace: TestNamespace;
  let system: Subject;
  let fix: (text: string) => string;

  beforeAll(async () => {
    namespace = await createNamespace('cached');
    await createShop(namespace.name);
    fix = await createTextFixer(namespace.name);
    const accounts = [{ name: account, kubeconfigFile: cluster.kubeconfig, namespaces: [namespace.name] }];
    system = await startSubject({ settings: { kubernetes: { enabled: true, accounts } } });
    const check = async () => expect(await readLag()).toMatch(/=\d+$/);
    await vi.waitFor(check, { timeout: 90_000, interval: 250 });
    await system.fetch('/applications/shop', now);
  });

  afterAll(async () => {
    await system?.[Symbol.asyncDispose]();
    await namespace?.[Symbol.asyncDispose]();
    await deleteShopDefinition();
  });

  /** How far the account is behind; before it has agents that is not told. */
  async function readLag(): Promise<string | null> {
    return (await system.fetch('/applications')).headers.get('x-busdriver-lag');
  }

  /** What a path answers, with fixed texts for what differs from run to run. */
  async function get(target: string): Promise<unknown> {
    const answer = await system.fetch(target);
    const text = await answer.text();
    expect([answer.status, text.slice(0, 500)]).toEqual([200, expect.anything()]);
    return JSON.parse(fix(text));
  }

  /** What people have read, in the form of `get`. */
  async function readGolden<T = unknown>(name: string): Promise<T> {
    return JSON.parse(await readFile(path.join(goldens, `${name}.golden.json`), 'utf8')) as T;
  }

  const expectSame = (answer: unknown, golden: unknown): void =>
    expect(sortSets(answer)).toEqual(sortSets(golden));

  it('has its server groups, in short and whole', async () => {
    expectSame(await get('/applications/shop/serverGroups'), await readGolden('server-groups'));
    expectSame(
      await get('/applications/shop/serverGroups?expand=true'),
      await readGolden('server-groups-expanded'),
    );
    expectSame(await get('/serverGroups?applications=legacy'), await readGolden('server-groups-unmanaged'));
  });

  it('has each server group by its name', async () => {
    const expanded = await readGolden<{ name: string }[]>('server-groups-expanded');
    for (const { name, ...golden } of expanded) {
      const {
        accountName: _,
        cluster: __,
        application: ___,
        ...whole
      } = { name, ...golden } as Record<string, unknown>;
      if (!name.includes('hash')) {
        expectSame(
          await get(`/serverGroups/${account}/${namespace.name}/${encodeURIComponent(name)}`),
          whole,
        );
      }
    }
  });

  it('has its clusters', async () => {
    const golden = await readGolden<{ [view: string]: unknown }>('clusters');
    const path = `/applications/shop/clusters/${account}/replicaSet%20api`;
    expectSame(await get('/applications/shop'), golden['application']);
    expectSame(await get('/applications/shop/clusters'), golden['clusters']);
    expectSame(await get(`/applications/shop/clusters/${account}`), golden['account']);
    expectSame(await get(path), [golden['expanded']]);
    expectSame(await get(`${path}/kubernetes`), golden['expanded']);
    expectSame(await get(`${path}/kubernetes?expand=false`), golden['minimal']);
    const all = (await get('/applications')) as { name: string; clusterNames: unknown }[];
    expect(all.map(({ name }) => name)).toEqual(expect.arrayContaining(['legacy', 'shop']));
    expectSame(all.find(({ name }) => name === 'shop')?.clusterNames, golden['clusters']);
  });

  it('has its managers', async () => {
    expectSame(
      await get('/applications/shop/serverGroupManagers'),
      await readGolden('server-group-managers'),
    );
  });

  it('tells how old it is, and is as fresh as is demanded', async () => {
    const asked = Date.now();
    const fresh = await system.fetch('/applications/shop/serverGroups', now);
    expect(Date.parse(fresh.headers.get('x-busdriver-as-of') ?? '')).toBeGreaterThanOrEqual(asked - 1_000);
    expect(fresh.headers.get('x-busdriver-lag')).toMatch(new RegExp(`^${account}=\\d+$`));

    await kubectl([
      '--namespace',
      namespace.name,
      'create',
      'deployment',
      'late',
      '--image',
      'example.invalid/late:1',
    ]);
    const late = await system.fetch(`/applications/late/clusters/${account}`, now);
    expect([late.status, await late.json()]).toMatchObject([
      200,
      expect.arrayContaining([expect.objectContaining({ name: 'late' })]),
    ]);
    // Its ReplicaSet first: as long as that is there, the cluster is, too.
    const cascade = '--cascade=foreground';
    await kubectl(['--namespace', namespace.name, 'delete', 'deployment', 'late', cascade]);
    const gone = await system.fetch(`/applications/late/clusters/${account}/late`, now);
    expect(gone.status).toBe(404);
    // A run that met changes does not always prove how fresh it is; what it read is shown all the same.
    expect(Number(gone.headers.get('age'))).toBeLessThan(15);
  });
});

/** A copy whose lists are in one order, and whose members are, too: lists are sets here. */
function sortSets(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(sortSets).sort((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));
  }
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(members.map(([key, member]) => [key, sortSets(member)]));
}
