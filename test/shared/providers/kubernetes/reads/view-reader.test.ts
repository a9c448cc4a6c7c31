import { describe, expect, test } from 'vitest';
import { toRevision } from '#caching/store/revision.ts';
import { InvalidInputError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import type { Manifest } from '#providers/kubernetes/api/manifest.ts';
import { newAccount } from '#test/contracts/cache-bench.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';
import type { ServerGroupsRequest } from '#views/views.ts';
import { createManifest, toMoniker } from '../manifests.ts';
import { createPod, createReplicaSet, getUid } from '../views/sample-manifests.ts';
import { location, openAccount as openAccountOf, openCachedAccounts, show } from './cached-accounts.ts';

const open = useLocalTables();

const openAccount = (objects: readonly Manifest[], settings?: JsonObject) =>
  openAccountOf(open, { objects, settings });

/** Shows the names of views, sorted. */
async function list(views: Promise<{ readonly value: readonly object[] }>): Promise<string[]> {
  const { value } = await views;
  return value.map((view) => String((view as { name: string }).name)).sort();
}

function createPolicy(name: string, namespace: string): Manifest {
  return createManifest('networking.k8s.io/v1', 'NetworkPolicy', { name, namespace });
}

describe('pods', () => {
  const pod = createPod('web-1-a', { owner: 'web-1' });

  test('seen before their owner show nothing until that comes', async () => {
    const { reader, write, account, key } = await openAccount([pod]);
    const request = { applications: ['shop'], expand: true };
    expect((await reader.listServerGroups(request)).value).toEqual([]);
    expect(await reader.findServerGroup(key('replicaSet web-1'))).toBeUndefined();
    expect(await show(reader.findInstance(key('pod web-1-a')))).toMatchObject({ name: getUid('web-1-a') });
    await write(account, [createReplicaSet('web-1')]);
    expect((await reader.listServerGroups(request)).value).toMatchObject([
      { name: 'replicaSet web-1', instances: [{ displayName: 'web-1-a' }] },
    ]);
  });

  test('of a server group in no application show with it', async () => {
    const annotations = { 'moniker.spinnaker.io/application': '' };
    const { reader, key } = await openAccount([createReplicaSet('web-1', { annotations }), pod]);
    expect(await show(reader.findServerGroup(key('replicaSet web-1')))).toMatchObject({
      instanceCounts: { total: 1, up: 1 },
      instances: [{ displayName: 'web-1-a' }],
    });
  });
});

describe('accounts', () => {
  async function openTwo() {
    const [one, two] = [newAccount(), newAccount()];
    const accounts = await openCachedAccounts(open, [{ name: one }, { name: two }]);
    const application = `shop of ${one}`;
    const annotations = { 'moniker.spinnaker.io/application': application };
    const policy = createPolicy('deny', location);
    for (const account of [one, two]) {
      await accounts.write(account, [createReplicaSet('web-1', { annotations }), policy]);
    }
    return { ...accounts, one, two, application };
  }

  test('all that have the application are shown, and named as what the answer depends on', async () => {
    const { reader, one, two, application } = await openTwo();
    const { value, accounts } = await reader.listServerGroups({ applications: [application], expand: false });
    expect(value.map((view) => (view as { account: string }).account)).toEqual([one, two].sort());
    expect(accounts).toEqual([one, two].sort());
    expect((await reader.listClusterNames(application)).value).toEqual({
      [one]: ['deployment web'],
      [two]: ['deployment web'],
    });
  });

  test('that are not configured any more are not shown', async () => {
    const { reopen, one, two, application } = await openTwo();
    const reader = await reopen([{ name: two }]);
    const request = { applications: [application], expand: false };
    const key = { account: one, location, name: 'replicaSet web-1' };
    expect((await reader.listServerGroups(request)).accounts).toEqual([two]);
    expect((await reader.listApplications()).value).toEqual([
      { application, account: two, clusters: ['deployment web'] },
    ]);
    expect((await reader.findApplication(application))?.value).toMatchObject({ name: application });
    expect(Object.keys((await reader.listClusterNames(application)).value)).toEqual([two]);
    expect((await reader.listClusters(application, one)).value).toEqual([]);
    expect((await reader.listServerGroupsByKeys([key])).value).toEqual([]);
    expect(await reader.findServerGroup(key)).toBeUndefined();
    expect(await reader.findInstance(key)).toBeUndefined();
    expect(await reader.findLoadBalancer(key)).toBeUndefined();
    expect(await reader.findSecurityGroup({ ...key, name: 'networkPolicy deny' })).toBeUndefined();
    expect(Object.keys((await reader.listSecurityGroups({})).value)).toEqual([two]);
    const found = await reader.search({ query: 'web', types: ['serverGroups', 'clusters'] });
    expect(new Set(found.value.map(({ account }) => account))).toEqual(new Set([two]));
    expect(found.accounts).toEqual([two]);
    expect(await reader.listAccountDetails([one])).toEqual(new Map());
  });

  test('only those that clusters name are read', async () => {
    const { reader, one, two, application } = await openTwo();
    const ask = (clusters: readonly string[]) =>
      reader.listServerGroups({ applications: [application], clusters, expand: false });
    expect((await ask([`${one}:deployment web`])).accounts).toEqual([one]);
    expect((await ask([`${one}:deployment web`])).value).toMatchObject([{ account: one }]);
    expect((await ask([`${one}:deployment api`, `${two}:deployment web`])).value).toMatchObject([
      { account: two },
    ]);
    expect(await ask([])).toEqual({ value: [], accounts: [] });
    expect((await ask(['nobody:deployment web'])).value).toEqual([]);
  });
});

test('no view has more than 32 requests under way at a time, and each account costs one', async () => {
  const names = Array.from({ length: 80 }, newAccount);
  const { reader, documents } = await openCachedAccounts(
    open,
    names.map((name) => ({ name })),
  );
  const requests = { all: 0, underWay: 0, most: 0 };
  documents.middlewareStack.add(
    (next) => async (args) => {
      requests.all += 1;
      requests.underWay += 1;
      requests.most = Math.max(requests.most, requests.underWay);
      return next(args).finally(() => {
        requests.underWay -= 1;
      });
    },
    { step: 'initialize', name: 'countUnderWay' },
  );
  expect((await reader.listSecurityGroups({})).accounts).toHaveLength(80);
  expect(requests).toEqual({ all: 80, underWay: 0, most: 32 });
});

describe('what is not there', () => {
  const request: ServerGroupsRequest = { applications: ['absent'], expand: true };

  test('an application', async () => {
    const { reader, account } = await openAccount([]);
    const cluster = { application: 'absent', account, cluster: 'deployment web' };
    const target = { location, target: 'current', onlyEnabled: false, validateOldest: true };
    expect(await reader.findApplication('absent')).toBeUndefined();
    expect(await reader.listClusterNames('absent')).toEqual({ value: {}, accounts: [] });
    expect((await reader.listClusters('absent', account)).value).toEqual([]);
    expect(await reader.findCluster(cluster, { expand: true })).toBeUndefined();
    expect(await reader.findTargetServerGroup({ ...cluster, ...target })).toBeUndefined();
    expect((await reader.listServerGroups(request)).value).toEqual([]);
    expect((await reader.listServerGroups({ ...request, applications: [] })).value).toEqual([]);
    expect((await reader.listServerGroupManagers('absent')).value).toEqual([]);
    expect((await reader.listLoadBalancers('absent')).value).toEqual([]);
    expect((await reader.listRawResources('absent')).value).toEqual([]);
    expect((await reader.search({ query: 'absent', types: ['applications', 'pod'] })).value).toEqual([]);
    expect((await reader.listServerGroupsByKeys([])).value).toEqual([]);
  });

  test('security groups', async () => {
    const { reader, account } = await openAccount([]);
    expect((await reader.listSecurityGroups({})).value).toEqual({});
    expect((await reader.listSecurityGroups({ account })).value).toEqual({});
    expect((await reader.listSecurityGroups({ account, location })).value).toEqual({});
    expect((await reader.listSecurityGroups({ account: 'nobody' })).value).toEqual({});
  });

  test.each(['replicaSet web-2', 'replicaSet', 'web-1', 'replicaSet web-1 ', '', 'nonsense web-1'])(
    "an object of the name '%s'",
    async (name) => {
      const { reader, key } = await openAccount([createReplicaSet('web-1')]);
      expect(await reader.findServerGroup(key(name))).toBeUndefined();
      expect(await reader.findInstance(key(name))).toBeUndefined();
      expect(await reader.findLoadBalancer(key(name))).toBeUndefined();
      expect(await reader.findSecurityGroup(key(name))).toBeUndefined();
      expect((await reader.listServerGroupsByKeys([key(name)])).value).toEqual([]);
    },
  );

  test('an object of another namespace', async () => {
    const { reader, key } = await openAccount([createReplicaSet('web-1')]);
    expect(await reader.findServerGroup(key('replicaSet web-1', 'elsewhere'))).toBeUndefined();
  });

  test('what was cached in another form', async () => {
    const { reader, cache, account, key } = await openAccount([createReplicaSet('web-1')]);
    const object = { account, kind: 'pod', location, name: 'old' };
    await cache.putObject({ key: object, revision: toRevision(1, '5'), body: '{"v":0}' });
    expect(await reader.findInstance(key('pod old'))).toBeUndefined();
  });
});

describe('names', () => {
  test('of kinds count in every spelling', async () => {
    const { reader, key } = await openAccount([createReplicaSet('web-1'), createPod('web-1-a')]);
    expect(await show(reader.findServerGroup(key('rs web-1')))).toMatchObject({ name: 'replicaSet web-1' });
    expect(await show(reader.findInstance(key('Pod web-1-a')))).toMatchObject({ displayName: 'web-1-a' });
  });

  test('of server groups count once', async () => {
    const { reader, key } = await openAccount([createReplicaSet('web-1'), createReplicaSet('web-2')]);
    const keys = ['replicaSet web-1', 'rs web-1', 'replicaSet web-2', 'replicaSet web-3'].map((name) =>
      key(name),
    );
    expect(await list(reader.listServerGroupsByKeys(keys))).toEqual(['replicaSet web-1', 'replicaSet web-2']);
  });
});

describe('custom kinds', () => {
  const annotations = { 'moniker.spinnaker.io/application': 'shop' };
  const create = (kind: string, name: string) =>
    createManifest('stable.example.com/v1', kind, { name, namespace: location, annotations });
  const customResources = [
    { kubernetesKind: 'Rollout.stable.example.com', spinnakerKind: 'serverGroups' },
    { kubernetesKind: 'Fence.stable.example.com', spinnakerKind: 'securityGroups' },
  ];

  test('that the account describes are shown as what they are', async () => {
    const { reader, account, key } = await openAccount([create('Rollout', 'web'), create('Fence', 'web')], {
      customResources,
    });
    const rollout = 'Rollout.stable.example.com web';
    const name = 'Fence.stable.example.com web';
    const fence = { name, id: name, moniker: {} };
    expect(await list(reader.listServerGroups({ applications: ['shop'], expand: false }))).toEqual([rollout]);
    expect(await show(reader.findServerGroup(key(rollout)))).toMatchObject({ name: rollout });
    expect((await reader.listSecurityGroups({ account })).value).toEqual({
      kubernetes: { [location]: [fence] },
    });
    expect(await show(reader.findSecurityGroup(key('web')))).toMatchObject(fence);
  });

  test('that nobody describes are found by a search for them, and are no raw resources', async () => {
    const { reader, account } = await openAccount([create('Rollout', 'web')]);
    const { value } = await reader.search({ query: 'web', types: ['Rollout.stable.example.com'] });
    expect(value).toMatchObject([{ type: 'unclassified', account, name: 'Rollout.stable.example.com web' }]);
    expect((await reader.listRawResources('shop')).value).toEqual([]);
  });
});

describe('target server groups', () => {
  const options = { onlyEnabled: true, validateOldest: true };
  const annotations = { 'moniker.spinnaker.io/cluster': 'replicaSet web' };
  const versions = ['v000', 'v001', 'v002'].map((version) =>
    createReplicaSet(`web-${version}`, { annotations }),
  );

  test.each([
    { target: 'current_asg_dynamic', name: 'replicaSet web-v002' },
    { target: 'ancestor_asg_dynamic', name: 'replicaSet web-v001' },
    { target: 'OLDEST', name: 'replicaSet web-v000' },
  ])('$target is $name', async ({ target, name }) => {
    const { reader, account } = await openAccount([...versions, createReplicaSet('web-v003')]);
    const request = { application: 'shop', account, cluster: 'replicaSet web', target };
    const find = (namespace: string | undefined) =>
      reader.findTargetServerGroup({ ...request, ...options, location: namespace });
    expect(await show(find(location))).toMatchObject({ name, account, cluster: 'replicaSet web' });
    expect(await show(find(undefined))).toMatchObject({ name });
    expect(await find('elsewhere')).toBeUndefined();
  });

  test('nobody knows others', async () => {
    const { reader, account } = await openAccount([]);
    const request = { application: 'shop', account, cluster: 'replicaSet web', location };
    const asking = reader.findTargetServerGroup({ ...request, ...options, target: 'newish' });
    await expect(asking).rejects.toThrow(InvalidInputError);
    await expect(asking).rejects.toThrow(
      "target: expected current, previous, oldest, largest or fail, got 'newish'",
    );
  });
});

describe('namespaces', () => {
  const cached = ['b', 'kube-system', 'a'].map((name) => createManifest('v1', 'Namespace', { name }));

  test('are those in the cache, sorted, without what the account omits', async () => {
    const { reader, account } = await openAccount(cached, { omitNamespaces: ['kube-system'] });
    expect(await reader.listAccountDetails([account])).toEqual(
      new Map([[account, { namespaces: ['a', 'b'] }]]),
    );
  });

  test('are left to the settings of an account that names some', async () => {
    const { reader, account } = await openAccount(cached, { namespaces: ['z', 'a'] });
    expect(await reader.listAccountDetails([account])).toEqual(new Map());
  });

  test('are none before they were cached', async () => {
    const { reader, account } = await openAccount([]);
    expect(await reader.listAccountDetails([account])).toEqual(new Map([[account, { namespaces: [] }]]));
  });
});

test.each([
  ['the application', 'SHOP'],
  ['the cluster', 'Deployment Web'],
  ['the kind and name', 'replicaset web'],
  ['namespace and name', 'store:web'],
  ['the account', 'account '],
])('a search finds a server group by %s', async (_, query) => {
  const { reader, account } = await openAccount([
    createReplicaSet('web-1'),
    createReplicaSet('api-1', { annotations: toMoniker('quoted "api', 'api') }),
  ]);
  const search = (text: string) => list(reader.search({ query: text, types: ['serverGroups'] }));
  expect(await search(query)).toContain('replicaSet web-1');
  expect(await search(`${account}:`)).toHaveLength(2);
  expect(await search('quoted "api')).toEqual(['replicaSet api-1']);
  expect(await search('nothing')).toEqual([]);
});

test('security groups of one namespace, and of one name', async () => {
  const { reader, account, key } = await openAccount([
    createPolicy('deny', 'a'),
    createPolicy('deny', 'b'),
    createPolicy('allow', 'a'),
  ]);
  const toView = (name: string) => ({ name, id: name, moniker: {} });
  const [allow, deny] = [toView('networkPolicy allow'), toView('networkPolicy deny')];
  const ask = async (request: object) => (await reader.listSecurityGroups({ account, ...request })).value;
  expect(await ask({})).toEqual({ kubernetes: { a: [allow, deny], b: [deny] } });
  expect(await ask({ location: 'b' })).toEqual({ kubernetes: [deny] });
  expect(await ask({ name: 'networkPolicy allow' })).toEqual({ kubernetes: { a: [allow] } });
  expect(await show(reader.findSecurityGroup(key('other deny', 'b')))).toMatchObject({ region: 'b' });
  expect(await reader.findSecurityGroup(key('networkPolicy allow', 'b'))).toBeUndefined();
});
