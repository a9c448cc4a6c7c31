import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { asString, getPath } from '#core/json.ts';
import type { KubernetesClient, ObjectRef } from '#providers/kubernetes/api/client.ts';
import {
  createNamespace,
  describeWithCluster,
  requestApi,
  type TestNamespace,
} from '#test/support/cluster/cluster.ts';
import { disposeAfterEach } from '#test/support/run/disposal.ts';
import { makeTempDir, writeProgram } from '#test/support/run/temp-dir.ts';
import { createManifest } from '../manifests.ts';
import { createTestClient, TurnedClock } from './client-setup.ts';
import { answerJson, answerStatus, startScriptedServer, toBase64, toKubeconfig } from './scripted-server.ts';

describeWithCluster('a client of a real API server', (cluster) => {
  let namespace: TestNamespace;
  let client: KubernetesClient;

  beforeEach(async () => {
    namespace = await createNamespace();
    client = createTestClient({ kubeconfigFile: cluster.kubeconfig });
  });
  disposeAfterEach(() => [client, namespace]);

  async function getRef(kind: string, name: string): Promise<ObjectRef> {
    return { resource: await client.getResourceOfKind(kind), namespace: namespace.name, name };
  }

  function toConfigMap(name: string, data: Record<string, string> = {}) {
    const labels = { parity: name.length % 2 === 0 ? 'even' : 'odd' };
    return createManifest('v1', 'ConfigMap', { name, namespace: namespace.name, labels, more: { data } });
  }

  test('creates, reads, replaces, patches and deletes an object', async () => {
    const ref = await getRef('configMap', 'one');
    expect(await client.get(ref)).toBeUndefined();
    const created = await client.create(ref.resource, toConfigMap('one', { a: '1' }), {
      fieldManager: 'tester',
    });
    expect(getPath(created, 'metadata', 'managedFields')).toMatchObject([{ manager: 'tester' }]);
    expect(await client.get(ref)).toEqual(created);
    await client.replace(ref.resource, { ...created, data: { b: '2' } });
    await expect(client.replace(ref.resource, { ...created, data: {} })).rejects.toMatchObject({
      status: 409,
      reason: 'Conflict',
      message: expect.stringContaining('the object has been modified'),
    });
    await client.patch(ref, { type: 'merge', body: { data: { c: '3' } } });
    await client.patch(ref, { type: 'json', body: [{ op: 'remove', path: '/data/b' }] });
    expect(await client.get(ref)).toMatchObject({ kind: 'ConfigMap', data: { c: '3' } });
    expect(await client.delete(ref)).toMatchObject({ status: 'Success' });
    expect(await client.delete(ref)).toBeUndefined();
    expect(await client.get(ref)).toBeUndefined();
  });

  test('merges lists by key in a strategic patch, and scales through the subresource', async () => {
    const ref = await getRef('deployment', 'web');
    const container = { name: 'web', image: 'nginx:1' };
    const labels = { app: 'web' };
    const template = { metadata: { labels }, spec: { containers: [container] } };
    const spec = { replicas: 0, selector: { matchLabels: labels }, template };
    const metadata = { name: 'web', namespace: namespace.name };
    await client.create(ref.resource, { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec });
    const body = { spec: { template: { spec: { containers: [{ name: 'side', image: 'side:1' }] } } } };
    await client.patch(ref, { type: 'strategic', body });
    await client.patch(ref, { type: 'merge', subresource: 'scale', body: { spec: { replicas: 2 } } });
    const deployment = await client.get(ref);
    expect(getPath(deployment, 'spec', 'replicas')).toBe(2);
    const containers = getPath(deployment, 'spec', 'template', 'spec', 'containers');
    expect(containers).toMatchObject([{ name: 'side' }, { name: 'web' }]);
  });

  test('applies on the server, and takes fields over only by force', async () => {
    const ref = await getRef('configMap', 'shared');
    const apply = (fieldManager: string, value: string, force: boolean) =>
      client.patch(ref, { type: 'apply', body: toConfigMap('shared', { key: value }), fieldManager, force });
    await apply('one', 'a', false);
    await expect(apply('two', 'b', false)).rejects.toMatchObject({ status: 409, reason: 'Conflict' });
    expect(await apply('two', 'b', true)).toMatchObject({ data: { key: 'b' } });
  });

  test('says what is invalid, field by field, and refuses unknown fields where asked', async () => {
    const ref = await getRef('configMap', 'bad');
    await expect(client.create(ref.resource, toConfigMap('Bad_Name'))).rejects.toMatchObject({
      status: 422,
      reason: 'Invalid',
      message: expect.stringContaining('metadata.name: Invalid value: "Bad_Name"'),
      details: { causes: [{ reason: 'FieldValueInvalid', field: 'metadata.name' }] },
    });
    const strange = { ...toConfigMap('strange'), unknown: 1 };
    await expect(client.create(ref.resource, strange, { fieldValidation: 'Strict' })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('unknown field "unknown"'),
    });
  });

  test('a missing namespace is an error of a create, not an absent object', async () => {
    const { resource } = await getRef('configMap', 'one');
    const manifest = createManifest('v1', 'ConfigMap', { name: 'one', namespace: 'no-such-place' });
    await expect(client.create(resource, manifest)).rejects.toMatchObject({
      status: 404,
      message: 'namespaces "no-such-place" not found',
    });
  });

  test('a built-in kind that this server has no more', async () => {
    const resource = await client.getResource('policy/v1beta1', 'PodSecurityPolicy');
    await expect(client.get({ resource, name: 'restricted' })).rejects.toThrow(
      'the cluster of account "prod" does not serve PodSecurityPolicy in policy/v1beta1',
    );
  });

  test('deletes with preconditions, and never a whole collection', async () => {
    const ref = await getRef('configMap', 'one');
    await client.create(ref.resource, toConfigMap('one'));
    const request = { preconditions: { uid: '00000000-0000-0000-0000-000000000000' } };
    await expect(client.delete(ref, request)).rejects.toMatchObject({ status: 409 });
    await expect(client.delete({ ...ref, name: '' })).rejects.toThrow('must not be ""');
    expect(await client.get(ref)).toBeDefined();
  });

  test('lists more than a page holds, and by label and field', async () => {
    const { resource } = await getRef('configMap', '');
    const names = Array.from({ length: 620 }, (_, index) => `cm-${index}`);
    await Promise.all(names.map((name) => client.create(resource, toConfigMap(name))));
    const listed = await client.list({
      resource,
      namespace: namespace.name,
      labelSelector: 'parity in (even,odd)',
    });
    const listedNames = listed.map((each) => asString(getPath(each, 'metadata', 'name')));
    expect(listedNames.toSorted()).toEqual(names.toSorted());
    expect(new Set(listed.map((each) => `${each['apiVersion']} ${each['kind']}`))).toEqual(
      new Set(['v1 ConfigMap']),
    );
    const fieldSelector = 'metadata.name=cm-7';
    expect(await client.list({ resource, namespace: namespace.name, fieldSelector })).toHaveLength(1);
    const everywhere = await client.list({ resource, labelSelector: 'parity=even' });
    expect(everywhere.length).toBeGreaterThanOrEqual(names.filter((name) => name.length % 2 === 0).length);
  });

  test('reads a cluster-scoped object whose name has a colon', async () => {
    const resource = await client.getResourceOfKind('clusterRole');
    const role = await client.get({ resource, name: 'system:node', namespace: 'ignored' });
    expect(getPath(role, 'metadata', 'name')).toBe('system:node');
  });

  test('reads paths of the server as text and as JSON', async () => {
    expect(await client.getText('/livez')).toBe('ok');
    expect(await client.getJson('/version')).toMatchObject({ gitVersion: 'v1.36.3' });
  });

  describe('proves who it is', () => {
    /** A token of a service account that may read ConfigMaps of its namespace, and nothing else. */
    async function makeToken(): Promise<string> {
      const base = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace.name}`;
      const subjects = [{ kind: 'ServiceAccount', name: 'default', namespace: namespace.name }];
      const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' };
      await requestApi('POST', `${base}/rolebindings`, { metadata: { name: 'view' }, subjects, roleRef });
      const path = `/api/v1/namespaces/${namespace.name}/serviceaccounts/default/token`;
      const token = asString(getPath(await requestApi('POST', path, { spec: {} }), 'status', 'token'));
      return token ?? '';
    }

    const getCluster = async () => ({
      server: cluster.server,
      'certificate-authority-data': toBase64(await readFile(cluster.caFile, 'utf8')),
    });

    /** Reading works, writing is forbidden, by the server's own words. */
    async function expectViewer(viewer: KubernetesClient): Promise<void> {
      const { resource } = await getRef('configMap', '');
      // The API server learns of a new role binding a moment after it was made.
      const list = () => viewer.list({ resource, namespace: namespace.name }).catch(() => []);
      await expect
        .poll(list, { timeout: 20_000 })
        .toMatchObject([{ metadata: { name: 'kube-root-ca.crt' } }]);
      await expect(viewer.create(resource, toConfigMap('one'))).rejects.toMatchObject({
        status: 403,
        reason: 'Forbidden',
        message: expect.stringContaining(`system:serviceaccount:${namespace.name}:default`),
      });
    }

    test('by a token', async () => {
      const kubeconfigContents = toKubeconfig(await getCluster(), { token: await makeToken() });
      await using viewer = createTestClient({ kubeconfigContents, placement: 'deployed' });
      await expectViewer(viewer);
    });

    test('by what an exec plugin prints', async () => {
      await using dir = await makeTempDir();
      const output = JSON.stringify({ kind: 'ExecCredential', status: { token: await makeToken() } });
      await writeProgram(join(dir.path, 'login'), `echo '${output}'`);
      const exec = {
        apiVersion: 'client.authentication.k8s.io/v1',
        command: './login',
        interactiveMode: 'Never',
      };
      const kubeconfigFile = join(dir.path, 'kubeconfig');
      await writeFile(kubeconfigFile, toKubeconfig(await getCluster(), { exec }));
      await using viewer = createTestClient({ kubeconfigFile });
      await expectViewer(viewer);
    });

    test('as the pod it runs in', async () => {
      await using dir = await makeTempDir();
      await writeFile(join(dir.path, 'token'), await makeToken());
      await writeFile(join(dir.path, 'namespace'), namespace.name);
      await copyFile(cluster.caFile, join(dir.path, 'ca.crt'));
      const { hostname, port } = new URL(cluster.server);
      await using viewer = createTestClient(
        { serviceAccount: true, placement: 'deployed' },
        {
          environment: { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port },
          serviceAccountDirectory: dir.path,
        },
      );
      await expectViewer(viewer);
      const { resource } = await getRef('configMap', '');
      const own = await viewer.get({ resource, name: 'kube-root-ca.crt' });
      expect(getPath(own, 'metadata', 'namespace')).toBe(namespace.name);
    });

    test('as somebody else whom an administrator may act as', async () => {
      const user = { token: cluster.token, as: 'jane', 'as-groups': ['system:authenticated'] };
      await using jane = createTestClient({ kubeconfigContents: toKubeconfig(await getCluster(), user) });
      const { resource } = await getRef('configMap', '');
      await expect(jane.list({ resource, namespace: namespace.name })).rejects.toThrow(
        'User "jane" cannot list',
      );
    });

    test('with a wrong token in vain', async () => {
      const kubeconfigContents = toKubeconfig(await getCluster(), { token: 'secret-token' });
      await using nobody = createTestClient({ kubeconfigContents });
      await expect(nobody.getJson('/api/v1/nodes')).rejects.toThrow(
        'Unauthorized: the API server refuses the credentials of account "prod" (context "dev"); renew them',
      );
    });
  });
});

describe('a list', () => {
  const resource = { apiVersion: 'v1', kind: 'Pod', plural: 'pods', namespaced: true, builtIn: true };
  const toPage = (name: string, token = '') =>
    answerJson(200, { metadata: { continue: token }, items: [{ metadata: { name } }] });

  test('whose snapshot expires between two pages begins again, once', async () => {
    await using server = await startScriptedServer();
    await using client = createTestClient(
      { kubeconfigContents: server.getKubeconfig() },
      { clock: new TurnedClock() },
    );
    server.script(toPage('old', 'a/b='), answerStatus(410, 'Expired'), toPage('one', 'next'), toPage('two'));
    const listed = await client.list({ resource, namespace: 'shop' });
    expect(listed.map((each) => getPath(each, 'metadata', 'name'))).toEqual(['one', 'two']);
    expect(server.seen.map(({ path }) => path)).toEqual([
      '/api/v1/namespaces/shop/pods?limit=500',
      '/api/v1/namespaces/shop/pods?limit=500&continue=a%2Fb%3D',
      '/api/v1/namespaces/shop/pods?limit=500',
      '/api/v1/namespaces/shop/pods?limit=500&continue=next',
    ]);
    server.script(answerStatus(410, 'Expired'));
    await expect(client.list({ resource })).rejects.toMatchObject({ status: 410 });
  });

  test('may be empty in either spelling', async () => {
    await using server = await startScriptedServer();
    await using client = createTestClient({ kubeconfigContents: server.getKubeconfig() });
    server.script(answerJson(200, { items: null }), answerJson(200, {}));
    expect(await client.list({ resource })).toEqual([]);
    expect(await client.list({ resource })).toEqual([]);
  });
});

test('an object without a namespace goes to that of the context', async () => {
  await using server = await startScriptedServer();
  const kubeconfig = JSON.parse(server.getKubeconfig());
  kubeconfig.contexts[0].context.namespace = 'shop';
  await using client = createTestClient({ kubeconfigContents: JSON.stringify(kubeconfig) });
  const pods = await client.getResourceOfKind('pod');
  await client.get({ resource: pods, name: 'one' });
  await client.create(pods, { apiVersion: 'v1', kind: 'Pod', metadata: { generateName: 'one-' } });
  await client.get({ resource: await client.getResourceOfKind('node'), name: 'one' });
  expect(server.seen.map(({ path }) => path)).toEqual([
    '/api/v1/namespaces/shop/pods/one',
    '/api/v1/namespaces/shop/pods',
    '/api/v1/nodes/one',
  ]);
});
