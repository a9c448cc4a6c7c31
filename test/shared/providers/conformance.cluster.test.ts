import { expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '#core/json.ts';
import { artifactsPlugin } from '#providers/artifacts/index.ts';
import { dockerRegistryPlugin } from '#providers/docker-registry/index.ts';
import { fiatPlugin } from '#providers/fiat/index.ts';
import { front50Plugin } from '#providers/front50/index.ts';
import { plugins } from '#providers/index.ts';
import { kubernetesPlugin } from '#providers/kubernetes/index.ts';
import { describeWithRegistry, pushImage, startRegistry } from '#test/support/artifacts/registry.ts';
import {
  createNamespace,
  describeWithCluster,
  getCluster,
  requestApi,
} from '#test/support/cluster/cluster.ts';
import { type ProviderSample, testProvider } from '#test/support/conformance/provider.ts';
import { toMoniker } from './kubernetes/manifests.ts';

const secret = 'planted-s3cr3t';

const kubernetes: ProviderSample = {
  plugin: kubernetesPlugin,
  accounts: ['one', 'two'],
  toSettings: (url) => toKubernetes([toKubernetesAccount('one', url), toKubernetesAccount('two', url)]),
  toWrongSettings: (url) =>
    toKubernetes([
      toKubernetesAccount('one', url),
      { ...toKubernetesAccount('wrong', url), namespaces: { planted: true } },
      toKubernetesAccount('two', url),
    ]),
  leavesOut: ['wrong'],
  secrets: [secret],
  operation: {
    name: 'deployManifest',
    description: {
      account: 'one',
      moniker: { app: 'shop' },
      manifests: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'cart', namespace: 'shop' } }],
    },
  },
  openWorld: openNamespace,
};

function toKubernetes(accounts: readonly JsonValue[]): JsonObject {
  return { kubernetes: { enabled: true, accounts: [...accounts] } };
}

function toKubernetesAccount(name: string, server: string): JsonObject {
  const kubeconfigContents = JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server } }],
    users: [{ name: 'u', user: { token: secret } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  });
  return { name, kubeconfigContents };
}

/** A namespace with a ReplicaSet and a Service, once its controller has seen it. */
async function openNamespace() {
  const namespace = await createNamespace('conformance');
  const metadata = (name: string) => ({
    name,
    labels: { 'app.kubernetes.io/name': 'shop', 'app.kubernetes.io/managed-by': 'spinnaker' },
    annotations: toMoniker('replicaSet cart'),
  });
  const containers = [{ name: 'main', image: 'registry.test/cart:1' }];
  const labels = { app: 'cart' };
  const replicaSets = `/apis/apps/v1/namespaces/${namespace.name}/replicasets`;
  await requestApi('POST', replicaSets, {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: metadata('cart-v000'),
    spec: {
      replicas: 0,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers } },
    },
  });
  await requestApi('POST', `/api/v1/namespaces/${namespace.name}/services`, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: metadata('cart'),
    spec: { selector: labels, ports: [{ port: 80 }] },
  });
  await expect
    .poll(() => requestApi('GET', `${replicaSets}/cart-v000`))
    .toMatchObject({ status: { observedGeneration: 1 } });
  const account = { name: 'one', kubeconfigFile: getCluster().kubeconfig, namespaces: [namespace.name] };
  return {
    settings: toKubernetes([account]),
    application: 'shop',
    [Symbol.asyncDispose]: () => namespace[Symbol.asyncDispose](),
  };
}

const artifacts: ProviderSample = {
  plugin: artifactsPlugin,
  accounts: ['one', 'two'],
  toSettings: (url) => toArtifacts(url, []),
  toWrongSettings: (url) => toArtifacts(url, [{ name: 'wrong', urlRestrictions: 'planted' }]),
  leavesOut: ['wrong'],
  secrets: [secret],
};

function toArtifacts(url: string, others: readonly JsonObject[]): JsonObject {
  const credentials = { token: secret, credentialOrigins: [url] };
  return {
    artifacts: {
      github: { enabled: true, accounts: [...others, { name: 'one', ...credentials }] },
      http: { enabled: true, accounts: [{ name: 'two' }] },
    },
  };
}

const dockerRegistry: ProviderSample = {
  plugin: dockerRegistryPlugin,
  accounts: ['one', 'two'],
  toSettings: (address) =>
    toDockerRegistry([toRegistryAccount('one', address), toRegistryAccount('two', address)]),
  toWrongSettings: (address) =>
    toDockerRegistry([
      toRegistryAccount('one', address),
      { ...toRegistryAccount('wrong', address), repositories: ['planted'], catalogFile: '/planted' },
      toRegistryAccount('two', address),
    ]),
  leavesOut: ['wrong'],
  secrets: [secret],
  async openWorld() {
    const registry = await startRegistry();
    for (const repository of ['shop/cart', 'shop/pay']) {
      await pushImage(registry.url, { repository, tags: ['1', '2'], image: { labels: { branch: 'main' } } });
    }
    const details = { trackDigests: true, inspectDigests: true };
    const account = { name: 'one', address: registry.url, helmOciRepositories: ['shop/pay'], ...details };
    return {
      settings: toDockerRegistry([account]),
      application: 'shop',
      [Symbol.asyncDispose]: () => registry[Symbol.asyncDispose](),
    };
  },
};

function toDockerRegistry(accounts: readonly JsonValue[]): JsonObject {
  return { dockerRegistry: { enabled: true, accounts: [...accounts] } };
}

function toRegistryAccount(name: string, address: string): JsonObject {
  return {
    name,
    address,
    username: 'robot',
    password: secret,
    permissions: { READ: ['shop'] },
    skip: ['a/b'],
  };
}

const front50: ProviderSample = {
  plugin: front50Plugin,
  accounts: [],
  toSettings: (baseUrl) => ({ services: { front50: { enabled: true, baseUrl } } }),
  toWrongSettings: () => ({ services: { front50: { enabled: true, baseUrl: 'planted' } } }),
  leavesOut: ['services.front50'],
  secrets: [],
};

const fiat: ProviderSample = {
  plugin: fiatPlugin,
  accounts: [],
  toSettings: (baseUrl) => ({ services: { fiat: { enabled: true, baseUrl } } }),
  // Without Fiat everybody would pass.
  toWrongSettings: () => ({ services: { fiat: { enabled: true, baseUrl: 'planted' } } }),
  leavesOut: 'everything',
  secrets: [],
};

describeWithCluster('with a cluster', () => testProvider(kubernetes));
describeWithRegistry('with a registry', () => testProvider(dockerRegistry));
for (const sample of [artifacts, front50, fiat]) testProvider(sample);

test('the registry has no provider that is not held to testProvider()', () => {
  const tested = [kubernetes, artifacts, dockerRegistry, front50, fiat].map(({ plugin }) => plugin);
  expect(new Set(plugins)).toEqual(new Set(tested));
});
