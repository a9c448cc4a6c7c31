import { describe, expect, test } from 'vitest';
import type { Manifest } from '#providers/kubernetes/api/manifest.ts';
import { createKindRegistry } from '#providers/kubernetes/kinds/index.ts';
import { toFacts } from '#providers/kubernetes/rows/to-facts.ts';
import { selectClusters } from '#providers/kubernetes/views/application-facts.ts';
import {
  listClusters,
  toApplicationDetailView,
  toClusterNamesView,
  toClusterSummaryViews,
  toClusterView,
} from '#providers/kubernetes/views/cluster-view.ts';
import { toLoadBalancerViews } from '#providers/kubernetes/views/load-balancer-view.ts';
import { toServerGroupManagerViews } from '#providers/kubernetes/views/server-group-manager-view.ts';
import { toServerGroupSummaryViews } from '#providers/kubernetes/views/server-group-view.ts';
import { createManifest, toMoniker } from '../manifests.ts';
import { assembleAccount } from '../rows/assembled-facts.ts';
import { createPod, createReplicaSet, createSampleService, getUid } from './sample-manifests.ts';

const registry = createKindRegistry();
const other = { 'moniker.spinnaker.io/application': 'other' };

function getApplication(application: string, manifests: readonly Manifest[], accounts = ['test']) {
  const facts = manifests.map((manifest) => toFacts(manifest, registry));
  return { application, accounts: accounts.map((account) => assembleAccount(account, application, facts)) };
}

function listPlaces({ accounts }: ReturnType<typeof getApplication>) {
  return accounts.map((facts) => ({ account: facts.account, clusters: listClusters(facts) }));
}

function createDeployment(name: string, uid = getUid(`deployment ${name}`)): Manifest {
  const annotations = toMoniker(`deployment ${name}`);
  const { metadata, ...manifest } = createManifest('apps/v1', 'Deployment', {
    name,
    namespace: 'store',
    annotations,
  });
  return { ...manifest, metadata: { ...(metadata as object), uid } };
}

describe('relations across applications', () => {
  test("a load balancer shows another application's server group that it selects", () => {
    const shop = getApplication('shop', [
      createSampleService('web', { app: 'web' }),
      createReplicaSet('web-1', { annotations: other }),
      createPod('web-1-a', { owner: 'web-1', annotations: other }),
    ]);
    const [view] = toLoadBalancerViews(shop);
    expect(view?.serverGroups.map(({ name, instances }) => [name, instances.length])).toEqual([
      ['replicaSet web-1', 1],
    ]);
    expect(toServerGroupSummaryViews(shop)).toEqual([]);
  });

  test("a server group shows another application's service that selects it", () => {
    const manifests = [
      createSampleService('web', { app: 'web' }),
      createReplicaSet('web-1', { annotations: other }),
    ];
    const [view] = toServerGroupSummaryViews(getApplication('other', manifests));
    expect(view?.loadBalancers).toEqual(['service web']);
  });

  test('a manager shows all that it owns, and nothing that another of its name owned', () => {
    const owned = [
      createReplicaSet('web-1'),
      createReplicaSet('web-2', { annotations: other }),
      createReplicaSet('api-1', { owner: 'api' }),
    ];
    const view = (uid?: string) =>
      toServerGroupManagerViews(getApplication('shop', [createDeployment('web', uid), ...owned]))[0];
    expect(view()?.serverGroups.map(({ name }) => name)).toEqual(['replicaSet web-1', 'replicaSet web-2']);
    expect(view('made anew')?.serverGroups).toEqual([]);
  });

  test('pods belong to their owner by its identity', () => {
    const manifests = [createReplicaSet('web'), createPod('web-a'), createPod('web-b', { owner: 'older' })];
    const [view] = toServerGroupSummaryViews(getApplication('shop', manifests));
    expect(view?.instances.map(({ name }) => name)).toEqual(['pod web-a']);
  });
});

describe('clusters', () => {
  const manifests = [
    createDeployment('web'),
    createReplicaSet('web-1'),
    createReplicaSet('api-v001', { annotations: { 'moniker.spinnaker.io/cluster': 'replicaSet api' } }),
    createDeployment('unrolled'),
    createReplicaSet('none', { annotations: { 'moniker.spinnaker.io/cluster': '' } }),
  ];
  const shop = getApplication('shop', manifests, ['test', 'live']);
  const getNames = (clusters: string[]) =>
    toServerGroupSummaryViews(selectClusters(shop, clusters)).map(
      ({ account, name }) => `${account} ${name}`,
    );

  test('are those of server groups and of managers without any', () => {
    const names = ['deployment unrolled', 'deployment web', 'replicaSet api'];
    expect(toClusterNamesView(listPlaces(shop))).toEqual({ live: names, test: names });
    expect(toClusterSummaryViews(shop, 'live')[0]).toMatchObject({ account: 'live', serverGroups: [] });
  });

  test('can be picked by account and name', () => {
    expect(getNames(['live:replicaSet api', 'test:deployment web'])).toEqual([
      'test replicaSet web-1',
      'live replicaSet api-v001',
    ]);
  });

  test.each([[[]], [['live']], [[':replicaSet api', 'live:']], [['elsewhere:replicaSet api']]])(
    'are none of those that nothing names: %j',
    (clusters) => {
      expect(getNames(clusters)).toEqual([]);
    },
  );

  test('are not found by a name that there is not', () => {
    const request = { account: 'live', cluster: 'replicaSet api', expand: true };
    expect(toClusterView(shop, request)?.serverGroups).toHaveLength(1);
    expect(toClusterView(shop, { ...request, cluster: 'replicaSet web' })).toBeUndefined();
    expect(toClusterView(shop, { ...request, account: 'elsewhere' })).toBeUndefined();
    expect(toClusterSummaryViews(shop, 'elsewhere')).toEqual([]);
  });

  test('make an application: one with services alone is none', () => {
    const bare = getApplication('shop', [createSampleService('web', { app: 'web' })]);
    expect(toApplicationDetailView('shop', listPlaces(bare))).toBeUndefined();
    expect(toClusterNamesView(listPlaces(bare))).toEqual({});
    expect(toApplicationDetailView('shop', listPlaces(shop))?.clusters.live).toHaveLength(3);
  });
});
