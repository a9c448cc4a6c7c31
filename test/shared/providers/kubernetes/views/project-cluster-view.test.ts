import { expect, test } from 'vitest';
import { createKindRegistry } from '#providers/kubernetes/kinds/index.ts';
import { toFacts } from '#providers/kubernetes/rows/to-facts.ts';
import { toProjectClusterViews } from '#providers/kubernetes/views/project-cluster-view.ts';
import { assembleAccount } from '../rows/assembled-facts.ts';
import { createPod, createReplicaSet } from './sample-manifests.ts';

const named = (cluster: string) => ({ 'moniker.spinnaker.io/cluster': cluster });
const disabled = { 'traffic.spinnaker.io/load-balancers': '["service web"]' };
const manifests = [
  createReplicaSet('web-1', { annotations: named('shop-prod-eu') }),
  createPod('web-1-a', { owner: 'web-1' }),
  createReplicaSet('web-2', { annotations: named('shop-prod') }),
  createPod('web-2-a', { owner: 'web-2' }),
  createPod('web-2-b', { owner: 'web-2' }),
  createReplicaSet('web-3', { annotations: { ...named('shop-prod'), ...disabled } }),
  createPod('web-3-a', { owner: 'web-3' }),
  createReplicaSet('web-4', { annotations: named('shop') }),
];
const facts = manifests.map((manifest) => toFacts(manifest, createKindRegistry()));
const shop = { application: 'shop', accounts: [assembleAccount('test', 'shop', facts)] };

test.each([
  { stack: '*', detail: '*', up: 3 },
  { stack: 'prod', detail: '*', up: 3 },
  { stack: 'prod', detail: 'eu', up: 1 },
  { stack: 'prod', detail: undefined, up: 2 },
  { stack: 'prod', detail: '', up: 0 },
  { stack: '', detail: '*', up: 0 },
  { stack: '*', detail: undefined, up: 2 },
  { stack: undefined, detail: undefined, up: 0 },
  { stack: 'test', detail: '*', up: 0 },
])('stack $stack and detail $detail: $up pods that serve', ({ stack, detail, up }) => {
  const clusters = [{ account: 'test', stack, detail, applications: ['shop'] }];
  const [view] = toProjectClusterViews(clusters, [shop]);
  expect(view?.instanceCounts).toMatchObject({ total: up, up });
  expect(view?.applications[0]?.clusters.map(({ region }) => region)).toEqual(up > 0 ? ['store'] : []);
});

test('an application without facts runs nothing', () => {
  const clusters = [{ account: 'test', stack: '*', detail: '*', applications: ['other'] }];
  const [view] = toProjectClusterViews(clusters, [shop]);
  expect(view?.applications).toEqual([{ application: 'other', clusters: [], lastPush: 0 }]);
});
