import { expect, test } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import { createConfigMap, createJob } from '../../manifests.ts';
import { getOperation, loadOperations, openProvider } from '../../provider-setup.ts';

const provider = openProvider([{ name: 'prod', kubeconfigContents: '{}' }]);
await loadOperations(provider);

const moniker = { app: 'shop' };
const plain = createConfigMap('cart-flags', {});
const annotate = (application: string) => ({ 'moniker.spinnaker.io/application': application });
const annotated = (application: string) =>
  createConfigMap('cart-flags', {}, { annotations: annotate(application) });
const generated = { ...plain, metadata: { generateName: 'till-' } };
const role = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'Role',
  metadata: { name: 'cart', annotations: annotate('list') },
};
const scale = { manifestName: 'deployment cart-web-v003', replicas: 1 };
const resize = { serverGroupName: 'replicaSet cart-web-v003', capacity: { desired: 1 } };
const job = { manifest: createJob({ name: 'cart-job' }) };

test.each<[string, JsonObject, string[]]>([
  ['deployManifest', { moniker, manifests: [plain, generated] }, ['shop']],
  ['deployManifest', { moniker: { app: 7 }, manifests: [plain] }, ['7']],
  ['deployManifest', { moniker, manifests: [annotated('vault')] }, ['shop', 'vault']],
  ['deployManifest', { moniker, manifests: [annotated('a'), annotated('b')] }, ['shop', 'a', 'b']],
  ['deployManifest', { moniker, manifest: annotated('vault') }, ['shop', 'vault']],
  [
    'deployManifest',
    { moniker, manifest: { apiVersion: 'v1', kind: 'RoleList', items: [role] } },
    ['shop', 'list'],
  ],
  ['runJob', { ...job, application: 'till', moniker }, ['till']],
  ['cleanupArtifacts', { manifests: [annotated('vault')] }, ['vault']],
  ['cleanupArtifacts', { manifests: [plain, plain] }, ['cart']],
  ['cleanupArtifacts', { manifests: [annotated('vault'), plain, generated] }, ['vault', 'cart', 'till']],
  ['scaleManifest', scale, ['cart']],
  ['scaleManifest', { ...scale, moniker }, ['shop']],
  ['scaleManifest', { ...scale, app: 'till' }, ['till']],
  ['scaleManifest', { ...scale, manifests: [annotated('vault')] }, ['cart']],
  ['deleteManifest', { manifestName: 'service cart' }, ['cart']],
  ['deleteManifest', { kinds: ['service'], labelSelectors: toSelectors('a') }, []],
  ['deleteManifest', { manifestName: 'clusterRole a:b' }, []],
  ['resizeServerGroup', resize, ['cart']],
])('%s %j', (name, description, expected) => {
  const { applications } = getOperation(provider, name).prepare({ account: 'prod', ...description });
  expect(applications).toEqual(expected);
});

test.each([
  ...['undoRolloutManifest', 'pauseRolloutManifest', 'resumeRolloutManifest', 'rollingRestartManifest'],
  'patchManifest',
])('the name of the target: %s', (name) => {
  const patch = { numRevisionsBack: 1, patchBody: {}, options: { mergeStrategy: 'merge' } };
  const description = { account: 'prod', manifestName: 'deployment cart', ...patch };
  expect(getOperation(provider, name).prepare(description).applications).toEqual(['cart']);
});

test.each(['enableManifest', 'disableManifest'])('the name of the target: %s', (name) => {
  const description = { account: 'prod', manifestName: 'replicaSet cart' };
  expect(getOperation(provider, name).prepare(description).applications).toEqual(['cart']);
});

function toSelectors(value: string): JsonObject {
  return { selectors: [{ kind: 'EQUALS', key: 'app', values: [value] }] };
}
