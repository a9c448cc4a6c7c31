import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { KubernetesApiError } from '#providers/kubernetes/api/errors.ts';
import { createNamespace, describeWithCluster, requestApi } from '#test/support/cluster/cluster.ts';
import { definitions } from '../live.ts';
import { createTestClient, TurnedClock } from './client-setup.ts';
import {
  answerJson,
  answerStatus,
  type ScriptedServer,
  startScriptedServer,
  toDiscoveryDocument,
} from './scripted-server.ts';

const widget = { kind: 'Widget', plural: 'widgets', namespaced: true, builtIn: false };

/** A loaded machine takes its time to serve a new definition. */
const timeouts = { timeout: 20_000 };

/** A definition of the kind `Widget` in a group of the test's own. */
function toDefinition(group: string, scope = 'Namespaced') {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `widgets.${group}` },
    spec: {
      group,
      scope,
      names: { plural: 'widgets', kind: 'Widget' },
      versions: ['v1beta1', 'v1'].map((name) => ({ name, served: true, storage: name === 'v1', schema })),
    },
  };
}

describeWithCluster('discovery on a real cluster', (cluster) => {
  let group: string;

  beforeEach(() => {
    group = `t${randomBytes(4).toString('hex')}.example.com`;
  });
  afterEach(async () => {
    await requestApi('DELETE', `${definitions}/widgets.${group}`).catch(() => undefined);
  });

  test('finds a kind whose definition came after the first question', async () => {
    await using client = createTestClient({ kubeconfigFile: cluster.kubeconfig });
    const question = client.getResource(`${group}/v1`, 'Widget');
    await expect(question).rejects.toThrow(
      `no matches for kind "Widget" in version "${group}/v1": the cluster of account "prod" does not serve it; is its CustomResourceDefinition installed?`,
    );
    await expect(question).rejects.toMatchObject({ status: 404, reason: 'NotFound' });
    await requestApi('POST', definitions, toDefinition(group));
    await expect
      .poll(() => client.getResource(`${group}/v1`, 'Widget').catch(() => undefined), timeouts)
      .toEqual({ ...widget, apiVersion: `${group}/v1` });
  });

  test('finds a kind by its name in any case, in the preferred version', async () => {
    await requestApi('POST', definitions, toDefinition(group, 'Cluster'));
    await using client = createTestClient({ kubeconfigFile: cluster.kubeconfig });
    const wanted = { apiVersion: `${group}/v1`, kind: 'Widget', namespaced: false };
    await expect
      .poll(() => client.getResourceOfKind(`wIDGET.${group}`).catch(() => undefined), timeouts)
      .toMatchObject(wanted);
    expect(await client.getResourceOfKind('widget')).toMatchObject({ kind: 'Widget' });
    expect(await client.getResource(`${group}/v1beta1`, 'Widget')).toMatchObject({
      apiVersion: `${group}/v1beta1`,
    });
  });

  test('a definition and its first object can be created one right after the other', async () => {
    await using namespace = await createNamespace();
    await using client = createTestClient({ kubeconfigFile: cluster.kubeconfig });
    const definitionResource = await client.getResourceOfKind('customResourceDefinition');
    await expect(client.getResource(`${group}/v1`, 'Widget')).rejects.toThrow(KubernetesApiError);
    await client.create(definitionResource, toDefinition(group));
    const resource = await client.getResource(`${group}/v1`, 'Widget');
    const metadata = { name: 'one', namespace: namespace.name };
    await client.create(resource, { apiVersion: `${group}/v1`, kind: 'Widget', metadata });
    expect(await client.get({ resource, ...metadata })).toMatchObject({ kind: 'Widget', metadata });
  });

  test('an aggregated API is found, and is not built in', async () => {
    await using client = createTestClient({ kubeconfigFile: cluster.kubeconfig });
    const wanted = { plural: 'pods', namespaced: true, builtIn: false };
    expect(await client.getResource('metrics.k8s.io/v1beta1', 'PodMetrics')).toMatchObject(wanted);
  });
});

describe('discovery', () => {
  let server: ScriptedServer;
  let clock: TurnedClock;

  beforeEach(async () => {
    server = await startScriptedServer();
    clock = new TurnedClock();
  });
  afterEach(() => server[Symbol.asyncDispose]());

  const connect = () => createTestClient({ kubeconfigContents: server.getKubeconfig() }, { clock });

  const answerGroup = (...kinds: string[]) => answerJson(200, toDiscoveryDocument(...kinds));

  test.each([
    ['deployment', 'apps/v1', 'deployments'],
    ['replicaSet', 'apps/v1', 'replicasets'],
    ['horizontalpodautoscaler', 'autoscaling/v2', 'horizontalpodautoscalers'],
    ['networkPolicy', 'networking.k8s.io/v1', 'networkpolicies'],
    ['podDisruptionBudget', 'policy/v1', 'poddisruptionbudgets'],
    ['customResourceDefinition', 'apiextensions.k8s.io/v1', 'customresourcedefinitions'],
    ['event', 'v1', 'events'],
    ['Event.events.k8s.io', 'events.k8s.io/v1', 'events'],
    ['EndpointSlice.discovery.k8s.io', 'discovery.k8s.io/v1', 'endpointslices'],
    ['endpoints', 'v1', 'endpoints'],
  ])('knows the built-in kind %s by heart', async (kind, apiVersion, plural) => {
    await using client = connect();
    expect(await client.getResourceOfKind(kind)).toMatchObject({ apiVersion, plural, builtIn: true });
    expect(server.seen).toEqual([]);
  });

  test.each([
    ['autoscaling/v2beta2', 'HorizontalPodAutoscaler'],
    ['batch/v1beta1', 'CronJob'],
    ['v1', 'Pod'],
  ])('knows %s %s by heart', async (apiVersion, kind) => {
    await using client = connect();
    expect(await client.getResource(apiVersion, kind)).toMatchObject({ apiVersion, kind, builtIn: true });
    expect(server.seen).toEqual([]);
  });

  test('asks once for five minutes, however many kinds are asked for at a time', async () => {
    await using client = connect();
    server.script(answerGroup('Widget', 'Gadget'));
    const names = ['Widget', 'Gadget', 'Widget'];
    await Promise.all(names.map((kind) => client.getResource('example.com/v1', kind)));
    clock.turn(299_000);
    await client.getResourceOfKind('gadget.example.com');
    expect(server.seen.length).toBe(1);
    clock.turn(2_000);
    await client.getResource('example.com/v1', 'Widget');
    expect(server.seen.length).toBe(2);
  });

  test('a miss asks again, but no more than once a second', async () => {
    await using client = connect();
    server.script(answerGroup('Widget'), answerGroup('Widget', 'Gadget'));
    await client.getResource('example.com/v1', 'Widget');
    clock.turn(100);
    expect(await client.getResource('example.com/v1', 'Gadget')).toMatchObject({ plural: 'gadgets' });
    clock.turn(400);
    await expect(client.getResource('example.com/v1', 'Nothing')).rejects.toThrow(
      'no matches for kind "Nothing"',
    );
    expect(server.seen.length).toBe(3);
    expect(clock.slept).toEqual([900, 600]);
  });

  test('waits for the kind of a definition that was just written, but not for ever', async () => {
    await using client = connect();
    const definitions = await client.getResourceOfKind('customResourceDefinition');
    const late = [answerGroup(), answerGroup(), answerGroup(), answerGroup('Widget')];
    server.script(answerJson(201, {}), ...late);
    await client.create(definitions, toDefinition('example.com'));
    expect(await client.getResource('example.com/v1', 'Widget')).toMatchObject({ kind: 'Widget' });
    expect(clock.slept.length).toBeLessThanOrEqual(4);
    clock.turn(1);
    await expect(client.getResource('example.com/v1', 'Gadget')).rejects.toThrow('no matches');
    expect(clock.slept.reduce((sum, ms) => sum + ms)).toBeLessThan(7_000);
  });

  test('one that fails is not remembered', async () => {
    await using client = connect();
    server.script(answerStatus(403, 'Forbidden'), answerGroup('Widget'));
    await expect(client.getResource('example.com/v1', 'Widget')).rejects.toMatchObject({ status: 403 });
    await client.getResource('example.com/v1', 'Widget');
  });

  test('a caller that gives up leaves the others waiting', async () => {
    await using client = connect();
    const controller = new AbortController();
    server.script((response, request) => {
      controller.abort(new Error('given up'));
      setTimeout(() => answerGroup('Widget')(response, request), 50);
    });
    const patient = client.getResource('example.com/v1', 'Widget');
    const impatient = client.getResource('example.com/v1', 'Widget', { signal: controller.signal });
    await expect(impatient).rejects.toThrow('given up');
    expect(await patient).toMatchObject({ kind: 'Widget' });
  });

  test('reads a server older than 1.26 group by group, whatever one of them is up to', async () => {
    await using client = connect();
    const toGroup = (name: string, preferred: string, ...versions: string[]) => ({
      name,
      preferredVersion: { groupVersion: `${name}/${preferred}` },
      versions: versions.map((version) => ({ groupVersion: `${name}/${version}` })),
    });
    const groups = [
      toGroup('apps', 'v1', 'v1'),
      toGroup('example.com', 'v1', 'v2alpha1', 'v1'),
      toGroup('broken.example.com', 'v1', 'v1'),
    ];
    const resources = [
      { name: 'widgets', kind: 'Widget', namespaced: true },
      { name: 'widgets/status', kind: 'Widget', namespaced: true },
    ];
    server.script((response, request) => {
      const answer = request.path.startsWith('/apis/broken')
        ? answerStatus(403, 'Forbidden')
        : answerJson(200, request.path === '/apis' ? { kind: 'APIGroupList', groups } : { resources });
      answer(response, request);
    });
    const widget = { kind: 'Widget', plural: 'widgets', namespaced: true, builtIn: false };
    expect(await client.getResourceOfKind('widget.example.com')).toEqual({
      apiVersion: 'example.com/v1',
      ...widget,
    });
    expect(await client.getResource('example.com/v2alpha1', 'Widget')).toMatchObject(widget);
    expect(server.seen.map(({ path }) => path).sort()).toEqual([
      '/apis',
      '/apis/broken.example.com/v1',
      '/apis/example.com/v1',
      '/apis/example.com/v2alpha1',
    ]);
  });

  test('a resource that the server does not serve any more is asked for anew', async () => {
    await using client = connect();
    server.script(answerGroup('Widget'), (response) => response.writeHead(404).end('404 page not found\n'));
    const resource = await client.getResource('example.com/v1', 'Widget');
    await expect(client.get({ resource, namespace: 'shop', name: 'one' })).rejects.toMatchObject({
      status: 404,
      message:
        'HTTP 404: 404 page not found: the cluster of account "prod" does not serve Widget in example.com/v1 (GET /apis/example.com/v1/namespaces/shop/widgets/one)',
    });
    server.script(answerGroup('Gadget'));
    await expect(client.getResource('example.com/v1', 'Widget')).rejects.toThrow('no matches');
  });
});
