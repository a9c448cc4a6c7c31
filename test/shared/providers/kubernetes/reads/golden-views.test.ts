import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { ObjectFacts } from '#providers/kubernetes/rows/facts.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';
import type { ViewReader } from '#views/views.ts';
import { type CachedAccounts, openCachedAccounts } from './cached-accounts.ts';

/** What the test of the views wrote from a live application. */
const folder = path.join(import.meta.dirname, '../../../../fixtures/kubernetes/views');
const account = 'prod-eu';
const location = 'store';
/** Has all objects with their applications. */
const related = 'related';
const open = useLocalTables();

let facts: ObjectFacts[];
let accounts: CachedAccounts;
let reader: ViewReader;

beforeAll(async () => {
  facts = await readGolden('facts');
  accounts = await openCachedAccounts(open, [
    { name: account },
    {
      name: related,
      cacheAllApplicationRelationships: true,
      rawResourcesEndpointConfig: { omitKindExpressions: ['secret'] },
    },
  ]);
  await accounts.writeFacts(account, facts);
  reader = await accounts.reopen([{ name: account }]);
});

test('server groups', async () => {
  const list = (application: string, expand: boolean) =>
    reader.listServerGroups({ applications: [application], expand });
  const summaries = await list('shop', false);
  expect(summaries.accounts).toEqual([account]);
  await expectGolden(summaries.value, 'server-groups');
  await expectGolden((await list('shop', true)).value, 'server-groups-expanded');
  await expectGolden((await list('legacy', false)).value, 'server-groups-unmanaged');
});

test('each server group by its key', async () => {
  const expanded = await readGolden<{ name: string }[]>('server-groups-expanded');
  const keys = expanded.map(({ name }) => ({ account, location, name }));
  await expectGolden((await reader.listServerGroupsByKeys(keys)).value, 'server-groups');
  const found = await Promise.all(keys.map((key) => reader.findServerGroup(key)));
  const names = { accountName: undefined, application: undefined, cluster: undefined };
  const details = expanded.map((each) => ({ ...each, ...names }));
  expect(toPlain(found.map((each) => each?.value))).toEqual(toPlain(details));
});

test('instances', async () => {
  const pods = await readGolden<{ humanReadableName: string }[]>('instances');
  const found = await Promise.all(
    pods.map(({ humanReadableName: name }) => reader.findInstance({ account, location, name })),
  );
  expect(toPlain(found.map((each) => each?.value))).toEqual(pods);
});

test('load balancers', async () => {
  await expectGolden((await reader.listLoadBalancers('shop')).value, 'load-balancers');
  await expectGolden((await reader.listLoadBalancers('legacy')).value, 'load-balancers-unmanaged');
});

test('each load balancer by its key', async () => {
  const golden = await readGolden<{ name: string }[]>('load-balancers');
  const found = await Promise.all(
    golden.map(({ name }) => reader.findLoadBalancer({ account, location, name })),
  );
  expect(toOrdered(found.map((each) => each?.value))).toEqual(toOrdered(golden));
});

test('server group managers', async () => {
  await expectGolden((await reader.listServerGroupManagers('shop')).value, 'server-group-managers');
});

test('security groups', async () => {
  const golden = await readGolden<{ [form: string]: unknown }>('security-groups');
  const list = async (request: object) =>
    toPlain((await reader.listSecurityGroups({ account, ...request })).value);
  const find = (name: string) => reader.findSecurityGroup({ account, location, name });
  expect(toPlain((await reader.listSecurityGroups({})).value)).toEqual(golden['all']);
  expect(await list({})).toEqual(golden['account']);
  expect(await list({ location })).toEqual(golden['accountAndRegion']);
  expect(await list({ name: 'networkPolicy fence' })).toEqual({ kubernetes: golden['name'] });
  expect(toPlain((await find('networkPolicy fence'))?.value)).toEqual(golden['detail']);
  expect(toPlain((await find('whatever fence'))?.value)).toEqual(golden['detail']);
});

test('clusters', async () => {
  const golden = await readGolden<{ [form: string]: unknown }>('clusters');
  const key = { application: 'shop', account, cluster: 'replicaSet api' };
  const applications = (await reader.listApplications()).value;
  expect(applications.filter(({ application }) => application === 'shop')).toEqual(
    golden['applicationClusters'],
  );
  expect(toPlain((await reader.findApplication('shop'))?.value)).toEqual(golden['application']);
  expect((await reader.listClusterNames('shop')).value).toEqual(golden['clusters']);
  expect(toOrdered((await reader.listClusters('shop', account)).value)).toEqual(toOrdered(golden['account']));
  expect(toOrdered((await reader.findCluster(key, { expand: true }))?.value)).toEqual(
    toOrdered(golden['expanded']),
  );
  expect(toPlain((await reader.findCluster(key, { expand: false }))?.value)).toEqual(golden['minimal']);
});

test('raw resources', async () => {
  await accounts.writeFacts(related, facts);
  const { value } = await (
    await accounts.reopen([
      {
        name: related,
        cacheAllApplicationRelationships: true,
        rawResourcesEndpointConfig: { omitKindExpressions: ['secret'] },
      },
    ])
  ).listRawResources('shop');
  await expectGolden(
    value.map((each) => ({ ...each, account })),
    'raw-resources',
  );
});

test('search', async () => {
  const golden = await readGolden<{ [form: string]: unknown }>('search');
  const search = async (query: string, types: string[]) =>
    toPlain((await reader.search({ query, types })).value);
  const types = ['serverGroups', 'instances', 'loadBalancers', 'serverGroupManagers'];
  expect(await search('API', types)).toEqual(golden['servers']);
  expect(await search('shop', ['securityGroups', 'applications', 'clusters'])).toEqual(
    golden['byApplication'],
  );
  expect(await search('shop', ['nonsense'])).toEqual([]);
});

test("a project's clusters", async () => {
  const [all, some, elsewhere] = await readGolden<object[]>('project-clusters');
  const project = {
    name: 'shopping',
    applications: ['shop', 'legacy', 'absent'],
    clusters: [
      { account, stack: '*', detail: '*', applications: [] },
      { account, stack: 'prod', detail: 'eu', applications: [] },
      { account: 'elsewhere', stack: '', detail: '', applications: ['shop'] },
    ],
  };
  const { value } = await reader.listProjectClusters(project);
  expect(toOrdered(value)).toEqual(toOrdered([all, some, { ...elsewhere, stack: '', detail: '' }]));
});

async function readGolden<T>(name: string): Promise<T> {
  return JSON.parse(await readFile(path.join(folder, `${name}.golden.json`), 'utf8')) as T;
}

async function expectGolden(view: unknown, name: string): Promise<void> {
  expect(toOrdered(view)).toEqual(toOrdered(await readGolden(name)));
}

function toPlain(view: unknown): unknown {
  return JSON.parse(JSON.stringify(view)) as unknown;
}

/** As JSON, with every list in one order: rows have none. */
function toOrdered(view: unknown): unknown {
  const order = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(order).sort(compareJson);
    if (typeof value !== 'object' || value === null) return value;
    const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
    return Object.fromEntries(members.map(([key, member]) => [key, order(member)]));
  };
  return order(toPlain(view));
}

function compareJson(one: unknown, other: unknown): number {
  return JSON.stringify(one) < JSON.stringify(other) ? -1 : 1;
}
