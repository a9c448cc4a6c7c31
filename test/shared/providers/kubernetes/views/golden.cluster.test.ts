import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Manifest } from '#providers/kubernetes/api/manifest.ts';
import { createKindRegistry } from '#providers/kubernetes/kinds/index.ts';
import { listCachedKinds } from '#providers/kubernetes/rows/cached-kinds.ts';
import { createCacheFilter, isInCluster } from '#providers/kubernetes/rows/cached-objects.ts';
import type { ObjectFacts } from '#providers/kubernetes/rows/facts.ts';
import { findRowApplication } from '#providers/kubernetes/rows/row-names.ts';
import { toFacts } from '#providers/kubernetes/rows/to-facts.ts';
import {
  listClusters,
  toApplicationDetailView,
  toClusterNamesView,
  toClusterSummaryViews,
  toClusterView,
} from '#providers/kubernetes/views/cluster-view.ts';
import { toInstanceView } from '#providers/kubernetes/views/instance-view.ts';
import { toLoadBalancerViews } from '#providers/kubernetes/views/load-balancer-view.ts';
import { toProjectClusterViews } from '#providers/kubernetes/views/project-cluster-view.ts';
import { toRawResourceViews } from '#providers/kubernetes/views/raw-resource-view.ts';
import { searchObjects } from '#providers/kubernetes/views/search-view.ts';
import * as securityGroupViews from '#providers/kubernetes/views/security-group-view.ts';
import { toServerGroupManagerViews } from '#providers/kubernetes/views/server-group-manager-view.ts';
import {
  toExpandedServerGroupViews,
  toServerGroupSummaryViews,
} from '#providers/kubernetes/views/server-group-view.ts';
import { createNamespace, describeWithCluster, type TestNamespace } from '#test/support/cluster/cluster.ts';
import { assembleAccount } from '../rows/assembled-facts.ts';
import { createShop, deleteShopDefinition, listShop } from './live-shop.ts';

const folder = path.join(import.meta.dirname, '../../../../fixtures/kubernetes/views');
const account = 'prod-eu';
const registry = createKindRegistry();
const everything = { cacheAll: true, cacheKinds: undefined, cacheOmitKinds: [] };

describeWithCluster('views of a live application', () => {
  let namespace: TestNamespace;
  let facts: ObjectFacts[];

  beforeAll(async () => {
    namespace = await createNamespace();
    await createShop(namespace.name);
    facts = toCachedFacts(await listShop(namespace.name));
  });

  afterAll(async () => {
    await namespace[Symbol.asyncDispose]();
    await deleteShopDefinition();
  });

  const getApplication = (application: string) => ({
    application,
    accounts: [assembleAccount(account, application, facts)],
  });

  test('what is kept of each object', async () => {
    await expectGolden(facts, 'facts');
    expect(JSON.stringify(facts)).not.toContain('planted-secret');
    expect(JSON.stringify(facts)).not.toContain(Buffer.from('planted-secret-of-views').toString('base64'));
  });

  test('server groups', async () => {
    await expectGolden(toServerGroupSummaryViews(getApplication('shop')), 'server-groups');
    await expectGolden(toExpandedServerGroupViews(getApplication('shop')), 'server-groups-expanded');
    await expectGolden(toServerGroupSummaryViews(getApplication('legacy')), 'server-groups-unmanaged');
  });

  test('instances', async () => {
    const pods = facts.filter(({ kind }) => kind === 'pod');
    const views = pods.map((pod) => toInstanceView(account, pod));
    await expectGolden(views, 'instances');
  });

  test('load balancers', async () => {
    await expectGolden(toLoadBalancerViews(getApplication('shop')), 'load-balancers');
    await expectGolden(toLoadBalancerViews(getApplication('legacy')), 'load-balancers-unmanaged');
  });

  test('server group managers', async () => {
    await expectGolden(toServerGroupManagerViews(getApplication('shop')), 'server-group-managers');
  });

  test('security groups', async () => {
    const policies = facts.filter(({ kind }) => kind === 'networkPolicy');
    const views = securityGroupViews;
    const [fence] = policies.filter(({ name }) => name === 'fence');
    await expectGolden(
      {
        all: views.toSecurityGroupsView([{ account, securityGroups: policies }]),
        account: views.toAccountSecurityGroupsView(policies),
        accountAndRegion: views.toRegionSecurityGroupsView(policies, 'store'),
        provider: views.toSecurityGroupsByRegion(policies),
        providerAndRegion: views.toSecurityGroupSummaries(policies, 'store'),
        name: views.toSecurityGroupsByRegion(
          policies.filter((each) => views.isNamed(each, 'networkPolicy fence')),
        ),
        detail: fence && views.toSecurityGroupView(account, fence),
      },
      'security-groups',
    );
  });

  test('clusters', async () => {
    const shop = getApplication('shop');
    const places = shop.accounts.map((facts) => ({
      application: 'shop',
      account: facts.account,
      clusters: listClusters(facts),
    }));
    const request = { account, cluster: 'replicaSet api' };
    await expectGolden(
      {
        applicationClusters: places,
        application: toApplicationDetailView('shop', places),
        clusters: toClusterNamesView(places),
        account: toClusterSummaryViews(shop, account),
        expanded: toClusterView(shop, { ...request, expand: true }),
        minimal: toClusterView(shop, { ...request, expand: false }),
      },
      'clusters',
    );
  });

  test('raw resources', async () => {
    const rules = {
      kinds: [],
      omitKinds: [],
      rawResources: { kindExpressions: [], omitKindExpressions: ['secret'] },
      allApplicationRelationships: true,
    };
    const resources = facts.filter(({ moniker }) => moniker.app === 'shop');
    await expectGolden(toRawResourceViews([{ account, resources, rules }]), 'raw-resources');
  });

  test('search', async () => {
    const rules = { allApplicationRelationships: false };
    const objects = facts.map((each) => {
      const { kind, spinnakerKind, namespace, name, moniker } = each;
      const application = findRowApplication(each, rules);
      const cluster = application !== undefined && isInCluster(spinnakerKind) ? moniker.cluster : undefined;
      return { account, kind, spinnakerKind, namespace, name, application, cluster };
    });
    const search = (query: string, types: string[]) => searchObjects(objects, { query, types });
    await expectGolden(
      {
        servers: search('API', ['serverGroups', 'instances', 'loadBalancers', 'serverGroupManagers']),
        byApplication: search('shop', ['securityGroups', 'applications', 'clusters']),
        nothing: search('shop', ['nonsense']),
      },
      'search',
    );
  });

  test("a project's clusters", async () => {
    const all = ['shop', 'legacy', 'absent'];
    const clusters = [
      { account, stack: '*', detail: '*', applications: all },
      { account, stack: 'prod', detail: 'eu', applications: all },
      { account: 'elsewhere', applications: ['shop'] },
    ];
    const applications = ['shop', 'legacy'].map(getApplication);
    await expectGolden(toProjectClusterViews(clusters, applications), 'project-clusters');
  });
});

function toCachedFacts(objects: readonly Manifest[]): ObjectFacts[] {
  const kinds = listCachedKinds({
    registry,
    definedKinds: ['ViewBackup.stable.example.com'],
    rules: { kinds: [], omitKinds: [] },
    settings: everything,
  });
  const isCached = createCacheFilter({ registry, kinds, rules: { onlySpinnakerManaged: false } });
  return objects.filter(isCached).map((object) => toFacts(object, registry));
}

/** Compares what JSON makes of a view with a file that people have read; `--update` writes it. */
async function expectGolden(view: unknown, name: string): Promise<void> {
  const text = `${JSON.stringify(sortKeys(JSON.parse(JSON.stringify(view))), undefined, 2)}\n`;
  expect(text).not.toContain(': null');
  await expect(text).toMatchFileSnapshot(path.join(folder, `${name}.golden.json`));
}

/** Keys in order of the alphabet, as Clouddriver writes them. */
function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([key, member]) => [key, sortKeys(member)]));
}
