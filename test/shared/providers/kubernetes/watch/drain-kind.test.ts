import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ApiResource } from '../../../../../shared/providers/kubernetes/api/client.ts';
import { includesVersion } from '../../../../../shared/providers/kubernetes/api/resource-version.ts';
import {
  type DrainOutcome,
  type DrainRequest,
  drainKind,
} from '../../../../../shared/providers/kubernetes/watch/drain-kind.ts';
import type { WatchClient } from '../../../../../shared/providers/kubernetes/watch/watch-client.ts';
import { systemClock } from '../../../../../shared/runtime/context/system.ts';
import { startApiProxy } from '../../../../support/api-proxy.ts';
import {
  createNamespace,
  describeWithCluster,
  requestApi,
  type TestNamespace,
} from '../../../../support/cluster.ts';
import {
  type Answer,
  answerJson,
  answerStatus,
  type ScriptedServer,
  startScriptedServer,
  toBase64,
  toKubeconfig,
} from '../client/scripted-server.ts';
import { readConfigMaps, stormConfigMaps } from './config-map-storm.ts';
import {
  answerList,
  answerOpenStream,
  answerStream,
  configMaps,
  createTestWatchClient,
  KeptKind,
  toErrorLine,
  toLine,
  toText,
} from './watch-setup.ts';

describe('a drain', () => {
  let server: ScriptedServer;
  let client: WatchClient;
  const told: string[] = [];

  beforeEach(async () => {
    told.length = 0;
    server = await startScriptedServer();
    client = createTestWatchClient({ kubeconfigContents: server.getKubeconfig() });
  });
  afterEach(async () => {
    await client[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  function drain(request: Partial<DrainRequest> = {}): Promise<DrainOutcome> {
    const usual: DrainRequest = {
      resource: configMaps,
      position: '10',
      onPage: ({ items, resourceVersion }) => void told.push(`${items.length} listed at ${resourceVersion}`),
      onChanges: (changes) => void told.push(...changes.map(toText)),
    };
    return drainKind({ ...usual, ...request }, { client, clock: systemClock });
  }

  /** Answers at the end of the time for which it was asked. */
  function answerInTime(...lines: string[]): Answer {
    return (response, request) => {
      const seconds = Number(new URL(request.path, 'http://x').searchParams.get('timeoutSeconds'));
      answerOpenStream(...lines)(response, request);
      setTimeout(() => response.end(), seconds * 1000);
    };
  }

  test('without a position lists, and is as of before that', async () => {
    const before = Date.now();
    server.script(answerJson(200, { metadata: { resourceVersion: '7' }, items: [{}, {}] }));
    const outcome = await drain({ position: undefined });
    expect(outcome).toEqual({ outcome: 'listed', position: '7', asOfMs: expect.any(Number), count: 2 });
    expect(outcome.asOfMs).toBeGreaterThanOrEqual(before);
    expect(told).toEqual(['2 listed at 7']);
  });

  test('lists again and again what has no resource version', async () => {
    server.script(answerJson(200, { items: [{}] }));
    expect(await drain({ position: undefined })).toMatchObject({ outcome: 'listed', position: undefined });
  });

  test('asks for nothing more where nothing at all was written', async () => {
    server.script(answerList('10'));
    expect(await drain()).toMatchObject({ outcome: 'drained', position: '10', asOfMs: expect.any(Number) });
    expect(server.seen).toHaveLength(1);
  });

  test('of a quiet kind is as of its reading, and leaves the position where the server left it', async () => {
    server.script(answerList('20'), answerInTime());
    const before = Date.now();
    const outcome = await drain();
    expect(outcome).toEqual({ outcome: 'drained', position: '10', asOfMs: expect.any(Number), count: 0 });
    expect(Number(outcome.asOfMs) - before).toBeLessThan(900);
  });

  test('that ended too early, or in the midst of changes, does not know how current it is', async () => {
    server.script(answerList('20'), answerStream());
    expect(await drain()).toMatchObject({ outcome: 'drained', position: '10', asOfMs: undefined });
    server.script(answerList('20'), answerInTime(toLine('ADDED', 'one@15')));
    expect(await drain()).toMatchObject({ outcome: 'drained', position: '15', asOfMs: undefined, count: 1 });
  });

  test('is current once it has told a change, or come by a bookmark, to what was the newest', async () => {
    server.script(answerList('20'), answerInTime(toLine('ADDED', 'one@15'), toLine('DELETED', 'one@21')));
    expect(await drain()).toMatchObject({ position: '21', asOfMs: expect.any(Number), count: 2 });
    server.script(answerList('20'), answerOpenStream(toLine('BOOKMARK', '@20')));
    const outcome = await drain({ awaitsBookmark: true });
    expect(outcome).toMatchObject({
      outcome: 'drained',
      position: '20',
      asOfMs: expect.any(Number),
      count: 0,
    });
    expect(told).toEqual(['ADDED one@15', 'DELETED one@21']);
  });

  test('tells that the server is behind, and asks it for nothing more', async () => {
    server.script(answerList('9'));
    expect(await drain()).toEqual({ outcome: 'future', position: undefined, asOfMs: undefined, count: 0 });
    expect(server.seen).toHaveLength(1);
  });

  test.each([
    ['a refusal', answerStatus(410, 'Expired')],
    ['an error event', answerStream(toErrorLine(410, 'Expired'))],
  ])('tells that its position has expired, by %s', async (_how, answer) => {
    server.script(answerList('20'), answer);
    expect(await drain()).toMatchObject({ outcome: 'expired', position: undefined, asOfMs: undefined });
  });

  test.each([
    { outcome: 'forbidden', status: 403, reason: 'Forbidden', position: '10' },
    { outcome: 'gone', status: 404, reason: 'NotFound', position: undefined },
    { outcome: 'broken', status: 422, reason: 'Invalid', position: '10' },
  ])('is $outcome where reading or watching is answered by $status', async (row) => {
    const { outcome, status, reason, position } = row;
    const error = { message: expect.stringContaining(`${reason} says the server`) };
    server.script(answerStatus(status, reason));
    expect(await drain()).toMatchObject({ outcome, position, asOfMs: undefined, error });
    expect(await drain({ position: undefined })).toMatchObject({ outcome, position: undefined, error });
    server.script(answerList('20'), answerStatus(status, reason));
    expect(await drain()).toMatchObject({ outcome, position, asOfMs: undefined, error });
  });

  test('whose stream breaks keeps what was told, and does not know how current it is', async () => {
    server.script(answerList('20'), (response) => {
      response.writeHead(200).write(toLine('ADDED', 'one@15'), () => setImmediate(() => response.destroy()));
    });
    expect(await drain()).toMatchObject({ outcome: 'broken', position: '15', asOfMs: undefined, count: 1 });
  });

  test('that is aborted says how far it came', async () => {
    const aborter = new AbortController();
    const { signal } = aborter;
    server.script(answerList('20'), answerOpenStream(toLine('ADDED', 'one@15')));
    const outcome = await drain({ signal, onChanges: () => aborter.abort() });
    expect(outcome).toMatchObject({ outcome: 'aborted', position: '15', asOfMs: undefined });
    expect(await drain({ signal })).toMatchObject({ outcome: 'aborted', position: '10' });
    expect(await drain({ signal, position: undefined })).toMatchObject({
      outcome: 'aborted',
      position: undefined,
    });
  });

  test('throws what working on pages and changes throws', async () => {
    const fail = () => Promise.reject(new Error('the store is full'));
    server.script(answerList('20'), answerInTime(toLine('ADDED', 'one@15')));
    await expect(drain({ onChanges: fail })).rejects.toThrow('the store is full');
    server.script(answerList('20'));
    await expect(drain({ position: undefined, onPage: fail })).rejects.toThrow('the store is full');
  });
});

describeWithCluster('a drain of a real API server', (cluster) => {
  let namespace: TestNamespace;
  let client: WatchClient;
  const none = { onPage: () => undefined, onChanges: () => undefined };

  beforeEach(async () => {
    namespace = await createNamespace('drain');
    client = createTestWatchClient({ kubeconfigFile: cluster.kubeconfig });
  });
  afterEach(async () => {
    await client[Symbol.asyncDispose]();
    await namespace[Symbol.asyncDispose]();
  });

  const drain = (request: DrainRequest): Promise<DrainOutcome> =>
    drainKind(request, { client, clock: systemClock });

  test('sees every state in a storm, through connections that break', { timeout: 60_000 }, async () => {
    let reads = 0;
    let isStormy = true;
    await using proxy = await startApiProxy(cluster, {
      getFault: ({ method }) => {
        // Afterwards the pattern of faults might hit each last drain, for ever.
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
    let position: string | undefined;
    const storm = stormConfigMaps(namespace.name, 480).finally(() => {
      isStormy = false;
    });
    for (let last = false; !last; ) {
      last = !isStormy;
      const outcome = await drainKind({ ...scope, position }, { client: proxied, clock: systemClock });
      position = outcome.position;
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
    const { position } = await drain({ ...scope, ...none, position: undefined });
    await requestApi('DELETE', `${path}/one`);
    const objects: unknown[] = [];
    const outcome = await drain({
      ...scope,
      ...none,
      position,
      onChanges: (changes) => void objects.push(...changes),
    });
    const metadata = { name: 'one', resourceVersion: outcome.position };
    expect(objects).toMatchObject([
      { type: 'DELETED', object: { kind: 'ConfigMap', metadata, data: { a: '1' } } },
    ]);
  });

  test('moves the position of a kind that does not change, by a bookmark', async () => {
    const ingresses = {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'Ingress',
      plural: 'ingresses',
      namespaced: true,
      builtIn: true,
    };
    const scope = { resource: ingresses, namespace: namespace.name };
    const { position = '' } = await drain({ ...scope, ...none, position: undefined });
    await requestApi('POST', `/api/v1/namespaces/${namespace.name}/configmaps`, {
      metadata: { name: 'one' },
    });
    const now = await client.readResourceVersion(scope);
    const outcome = await drain({ ...scope, ...none, position, awaitsBookmark: true });
    expect(outcome).toMatchObject({ outcome: 'drained', count: 0, asOfMs: expect.any(Number) });
    expect(includesVersion(position, now)).toBe(false);
    expect(includesVersion(outcome.position ?? '', now)).toBe(true);
  });

  test('tells that the server is behind its position', async () => {
    const position = '999999999999';
    expect(await drain({ resource: configMaps, ...none, position })).toMatchObject({ outcome: 'future' });
  });

  test('follows a kind that comes, expires and goes', { timeout: 60_000 }, async () => {
    const group = `${randomBytes(4).toString('hex')}.example.com`;
    const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    const resource: ApiResource = {
      apiVersion: `${group}/v1`,
      kind: 'Tram',
      plural: 'trams',
      namespaced: true,
      builtIn: false,
    };
    expect(await drain({ resource, ...none, position: undefined })).toMatchObject({ outcome: 'gone' });
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
    await requestApi('POST', crds, {
      metadata: { name: `trams.${group}` },
      spec: {
        group,
        scope: 'Namespaced',
        names: { plural: 'trams', singular: 'tram', kind: 'Tram', listKind: 'TramList' },
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    });
    const listed = await until(
      () => drain({ resource, ...none, position: undefined }),
      ({ outcome }) => outcome === 'listed',
    );
    expect(listed).toMatchObject({ outcome: 'listed', count: 0 });
    expect(await drain({ resource, ...none, position: '1' })).toMatchObject({
      outcome: 'expired',
      position: undefined,
      error: { status: 410 },
    });
    await requestApi('DELETE', `${crds}/trams.${group}`);
    const gone = await until(
      () => drain({ resource, ...none, position: listed.position }),
      ({ outcome }) => outcome === 'gone',
    );
    expect(gone).toMatchObject({ outcome: 'gone', position: undefined });
  });

  test('keeps its position where the account may not list, or may only list', {
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
    const drainAs = (position: string | undefined) =>
      drainKind({ ...scope, position }, { client: reader, clock: systemClock });
    expect(await drainAs('1')).toMatchObject({
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
    const { position } = await until(
      () => drainAs(undefined),
      ({ outcome }) => outcome === 'listed',
    );
    await requestApi('POST', `/api/v1/namespaces/${namespace.name}/configmaps`, {
      metadata: { name: 'one' },
    });
    expect(await drainAs(position)).toMatchObject({
      outcome: 'forbidden',
      position,
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
