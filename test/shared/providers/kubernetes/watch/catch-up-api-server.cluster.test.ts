import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, expect, test } from 'vitest';
import type { ReadOutcome } from '#caching/engine/scope-source.ts';
import { systemClock } from '#platform/services/system.ts';
import type { ApiResource } from '#providers/kubernetes/api/client.ts';
import { includesVersion } from '#providers/kubernetes/api/resource-version.ts';
import { type CatchUpRequest, catchUpKind } from '#providers/kubernetes/watch/catch-up-kind.ts';
import type { WatchClient } from '#providers/kubernetes/watch/watch-client.ts';
import { startApiProxy } from '#test/support/cluster/api-proxy.ts';
import {
  createNamespace,
  describeWithCluster,
  requestApi,
  type TestNamespace,
} from '#test/support/cluster/cluster.ts';
import { disposeAfterEach } from '#test/support/run/disposal.ts';
import { toBase64, toKubeconfig } from '../client/scripted-server.ts';
import { createLive, defineTrams, definitions } from '../live.ts';
import { readConfigMaps, stormConfigMaps } from './config-map-storm.ts';
import { configMaps, createTestWatchClient, KeptKind } from './watch-setup.ts';

describeWithCluster('a catch-up of a real API server', (cluster) => {
  let namespace: TestNamespace;
  let client: WatchClient;
  const none = { onPage: () => undefined, onChanges: () => undefined };

  beforeEach(async () => {
    namespace = await createNamespace('catch-up');
    client = createTestWatchClient({ kubeconfigFile: cluster.kubeconfig });
  });
  disposeAfterEach(() => [client, namespace]);

  const catchUp = (request: CatchUpRequest): Promise<ReadOutcome> =>
    catchUpKind(request, { client, clock: systemClock });

  test('sees every state in a storm, through connections that break', { timeout: 60_000 }, async () => {
    let reads = 0;
    let isStormy = true;
    await using proxy = await startApiProxy(cluster, {
      getFault: ({ method }) => {
        // Afterwards the pattern of faults might hit each last catch-up, for ever.
        if (!isStormy) return undefined;
        reads += method === 'GET' ? 1 : 0;
        if (reads % 4 === 3) return { type: 'reset', when: 'midst' };
        return reads % 7 === 5 ? { type: 'half-close', when: 'midst' } : undefined;
      },
    });
    await using proxied = createTestWatchClient({ kubeconfigFile: proxy.kubeconfig });
    const kept = new KeptKind();
    const scope = { resource: configMaps, namespace: namespace.name, ...kept };
    const outcomes: string[] = [];
    let resourceVersion: string | undefined;
    const storm = stormConfigMaps(namespace.name, 480).finally(() => {
      isStormy = false;
    });
    for (let last = false; !last; ) {
      last = !isStormy;
      const outcome = await catchUpKind(
        { ...scope, resourceVersion },
        { client: proxied, clock: systemClock },
      );
      resourceVersion = outcome.position;
      outcomes.push(outcome.outcome);
      if (last && outcome.asOfMs === undefined) last = false;
    }
    await storm;
    expect(kept.objects).toEqual(await readConfigMaps(namespace.name));
    expect(kept.mistakes).toEqual([]);
    expect(outcomes).toContain('broken');
    expect(outcomes.filter((outcome) => outcome === 'listed').length).toBeLessThanOrEqual(1);
  });

  test('tells of a deleted object its last state and the version of the deletion', async () => {
    const path = `/api/v1/namespaces/${namespace.name}/configmaps`;
    await requestApi('POST', path, { metadata: { name: 'one' }, data: { a: '1' } });
    const scope = { resource: configMaps, namespace: namespace.name };
    const { position: resourceVersion } = await catchUp({ ...scope, ...none, resourceVersion: undefined });
    await requestApi('DELETE', `${path}/one`);
    const objects: unknown[] = [];
    const outcome = await catchUp({
      ...scope,
      ...none,
      resourceVersion,
      onChanges: (changes) => void objects.push(...changes),
    });
    const metadata = { name: 'one', resourceVersion: outcome.position };
    expect(objects).toMatchObject([
      { type: 'DELETED', object: { kind: 'ConfigMap', metadata, data: { a: '1' } } },
    ]);
  });

  test('moves the resource version of a kind that does not change, by a bookmark', async () => {
    const ingresses = {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'Ingress',
      plural: 'ingresses',
      namespaced: true,
      builtIn: true,
    };
    const scope = { resource: ingresses, namespace: namespace.name };
    const { position: resourceVersion = '' } = await catchUp({
      ...scope,
      ...none,
      resourceVersion: undefined,
    });
    await createLive(namespace.name, 'configmaps', { metadata: { name: 'one' } });
    const now = await client.readResourceVersion(scope);
    const outcome = await catchUp({ ...scope, ...none, resourceVersion, awaitsBookmark: true });
    expect(outcome).toMatchObject({ outcome: 'caughtUp', asOfMs: expect.any(Number) });
    expect(includesVersion(resourceVersion, now)).toBe(false);
    expect(includesVersion(outcome.position ?? '', now)).toBe(true);
  });

  test('tells that the server is behind its resource version', async () => {
    const resourceVersion = '999999999999';
    expect(await catchUp({ resource: configMaps, ...none, resourceVersion })).toMatchObject({
      outcome: 'future',
    });
  });

  test('watches a kind that comes, expires and goes', { timeout: 60_000 }, async () => {
    const group = `${randomBytes(4).toString('hex')}.example.com`;
    const kind = { apiVersion: `${group}/v1`, kind: 'Tram', plural: 'trams', builtIn: false };
    const resource: ApiResource = { ...configMaps, ...kind };
    expect(await catchUp({ resource, ...none, resourceVersion: undefined })).toMatchObject({
      outcome: 'gone',
    });
    await defineTrams(group);
    const listed = await until(
      () => catchUp({ resource, ...none, resourceVersion: undefined }),
      ({ outcome }) => outcome === 'listed',
    );
    expect(listed).toMatchObject({ outcome: 'listed' });
    expect(await catchUp({ resource, ...none, resourceVersion: '1' })).toMatchObject({
      outcome: 'expired',
      position: undefined,
      error: { status: 410 },
    });
    await requestApi('DELETE', `${definitions}/trams.${group}`);
    const gone = await until(
      () => catchUp({ resource, ...none, resourceVersion: listed.position }),
      ({ outcome }) => outcome === 'gone',
    );
    expect(gone).toMatchObject({ outcome: 'gone', position: undefined });
  });

  test('keeps its resource version where the account may not list, or may only list', {
    timeout: 60_000,
  }, async () => {
    const user = `reader-${namespace.name}`;
    const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace.name}`;
    const authority = toBase64(await readFile(cluster.caFile, 'utf8'));
    const kubeconfigContents = toKubeconfig(
      { server: cluster.server, 'certificate-authority-data': authority },
      { token: cluster.token, as: user },
    );
    await using reader = createTestWatchClient({ kubeconfigContents });
    const scope = { resource: configMaps, namespace: namespace.name, ...none };
    const catchUpAs = (resourceVersion: string | undefined) =>
      catchUpKind({ ...scope, resourceVersion }, { client: reader, clock: systemClock });
    expect(await catchUpAs('1')).toMatchObject({
      outcome: 'forbidden',
      position: '1',
      error: { message: expect.stringContaining(`User "${user}" cannot list resource "configmaps"`) },
    });
    await requestApi('POST', `${rbac}/roles`, {
      metadata: { name: 'lister' },
      rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }],
    });
    await requestApi('POST', `${rbac}/rolebindings`, {
      metadata: { name: 'lister' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'lister' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
    });
    const { position: resourceVersion } = await until(
      () => catchUpAs(undefined),
      ({ outcome }) => outcome === 'listed',
    );
    await createLive(namespace.name, 'configmaps', { metadata: { name: 'one' } });
    expect(await catchUpAs(resourceVersion)).toMatchObject({
      outcome: 'forbidden',
      position: resourceVersion,
      error: { message: expect.stringContaining('cannot watch resource "configmaps"') },
    });
  });
});

/** Tries until the result is as wanted. */
async function until<T>(attempt: () => Promise<T>, isWanted: (result: T) => boolean): Promise<T> {
  for (;;) {
    const result = await attempt();
    if (isWanted(result)) return result;
    await sleep(50);
  }
}
