import { beforeAll, describe, expect, test } from 'vitest';
import { InvalidInputError } from '#core/errors.ts';
import { getPath, type JsonObject } from '#core/json.ts';
import { systemClock } from '#platform/services/system.ts';
import { applyManifest } from '#providers/kubernetes/apply/apply.ts';
import {
  createNamespace,
  describeWithCluster,
  findObject,
  requestApi,
  type TestNamespace,
} from '#test/support/cluster/cluster.ts';
import { disposeAfterAll } from '#test/support/run/disposal.ts';
import { getFailure } from '#test/support/run/failure.ts';
import { createTestClient } from '../client/client-setup.ts';
import { createLive } from '../live.ts';
import { type WatchedClient, watchClient } from './watched-client.ts';

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

describeWithCluster('applyManifest', ({ kubeconfig }) => {
  const inner = createTestClient({ kubeconfigFile: kubeconfig });
  let namespace: TestNamespace;
  let watched: WatchedClient;
  let serial = 0;

  beforeAll(async () => {
    namespace = await createNamespace('apply');
  });
  disposeAfterAll(() => [namespace, inner]);

  /** A ConfigMap with a name of its own, and a fresh watch on the client. */
  function begin(data: JsonObject = { a: '1' }, metadata: JsonObject = {}): JsonObject {
    watched = watchClient(inner);
    serial += 1;
    const identity = { name: `c${serial}`, namespace: namespace.name };
    return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...identity, ...metadata }, data };
  }

  const apply = (manifest: JsonObject, options = {}) =>
    applyManifest(watched.client, manifest, { clock: systemClock, ...options });
  const getTarget = (manifest: JsonObject) =>
    `/api/v1/namespaces/${namespace.name}/configmaps/${getPath(manifest, 'metadata', 'name')}`;
  const takeCalls = () => watched.calls.splice(0).join(' ');

  test('creates by two calls, leaves alone by one, changes by two', async () => {
    const manifest = begin();
    const created = await apply(manifest);
    expect(created).toMatchObject({ outcome: 'created', warnings: [], object: { data: { a: '1' } } });
    expect(takeCalls()).toBe('get create');
    const unchanged = await apply(manifest);
    expect(unchanged).toEqual({ outcome: 'unchanged', warnings: [], object: created.object });
    expect(takeCalls()).toBe('get');
    const changed = await apply({ ...manifest, data: { b: '2' } });
    expect(changed).toMatchObject({ outcome: 'configured', warnings: [], object: { data: { b: '2' } } });
    expect(takeCalls()).toBe('get patch');
    expect(await findObject(getTarget(manifest))).toEqual(changed.object);
  });

  test('does not change the manifest it is given', async () => {
    const manifest = begin({ a: null, b: '1' });
    const before = structuredClone(manifest);
    await apply(manifest);
    await apply(manifest, { serverSide: true });
    expect(manifest).toEqual(before);
  });

  test('puts an object without a namespace where it is told, else into the default one', async () => {
    const { metadata: _, ...rest } = begin();
    const name = `apply-${namespace.name}`;
    const told = await apply({ ...rest, metadata: { name } }, { namespace: namespace.name });
    expect(getPath(told.object, 'metadata', 'namespace')).toBe(namespace.name);
    const untold = await apply({ ...rest, metadata: { name } });
    expect(getPath(untold.object, 'metadata', 'namespace')).toBe('default');
    await requestApi('DELETE', `/api/v1/namespaces/default/configmaps/${name}`);
  });

  describe('when somebody is faster', () => {
    const outdate = ({ metadata, ...rest }: JsonObject): JsonObject => ({
      ...{ ...rest, metadata: { ...(metadata as JsonObject), resourceVersion: '1' } },
    });

    test('changes what was created in between', async () => {
      const manifest = begin({ a: '1' });
      watched.interrupt(2, () => createLive(namespace.name, 'configmaps', { ...manifest, data: { b: '2' } }));
      const result = await apply(manifest);
      expect(result).toMatchObject({ outcome: 'configured', object: { data: { a: '1', b: '2' } } });
      expect(takeCalls()).toBe('get create get patch');
    });

    test('creates again what was deleted in between', async () => {
      const manifest = begin();
      await apply(manifest);
      takeCalls();
      watched.interrupt(2, () => requestApi('DELETE', getTarget(manifest)));
      const result = await apply({ ...manifest, data: { b: '2' } });
      expect(result).toMatchObject({ outcome: 'created', object: { data: { b: '2' } } });
      expect(takeCalls()).toBe('get patch get create');
    });

    test('reads a conflicting object again, five times', async () => {
      const manifest = begin();
      await apply(manifest);
      takeCalls();
      await expect(apply(outdate(manifest))).rejects.toMatchObject({ status: 409, reason: 'Conflict' });
      expect(takeCalls()).toBe(Array(6).fill('get patch').join(' '));
    });

    test('stops waiting when it is aborted', async () => {
      const manifest = begin();
      await apply(manifest);
      takeCalls();
      const abortion = new AbortController();
      watched.interrupt(4, async () => abortion.abort(new Error('enough')));
      await expect(apply(outdate(manifest), { signal: abortion.signal })).rejects.toThrow();
      expect(watched.calls.length).toBe(4);
    });
  });

  describe('warns', () => {
    test('of an object that was not applied before', async () => {
      const manifest = begin({ a: '1' });
      await createLive(namespace.name, 'configmaps', { ...manifest, data: { b: '2' } });
      const { warnings, object } = await apply(manifest);
      expect(warnings).toEqual([expect.stringContaining(lastApplied)]);
      expect(object).toMatchObject({ data: { a: '1', b: '2' } });
      expect((await apply(manifest)).warnings).toEqual([]);
    });

    test('of an object that is being deleted', async () => {
      const manifest = begin({ a: '1' }, { finalizers: ['example.com/wait'] });
      await apply(manifest);
      await requestApi('DELETE', getTarget(manifest));
      const changed = await apply({ ...manifest, data: { a: '2' } });
      expect(changed).toMatchObject({ outcome: 'configured', object: { data: { a: '2' } } });
      expect(changed.warnings).toEqual([expect.stringContaining('being deleted')]);
      await requestApi('PATCH', getTarget(manifest), { metadata: { finalizers: null } });
    });
  });

  describe('refuses', () => {
    const metadata = { name: 'a' };
    test.each([
      ['no apiVersion', { kind: 'ConfigMap', metadata }, 'apiVersion: the manifest must have one'],
      ['no kind', { apiVersion: 'v1', metadata }, 'kind: the manifest must have one'],
      ['no name', { apiVersion: 'v1', kind: 'ConfigMap' }, 'metadata.name: apply needs it'],
      [
        'a name to be generated',
        { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'a-' } },
        'metadata.name: apply needs it; generateName works with create only',
      ],
    ])('a manifest with %s', async (_, manifest, message) => {
      begin();
      await expect(apply(manifest as JsonObject)).rejects.toThrow(new InvalidInputError(message));
      expect(takeCalls()).toBe('');
    });

    test('a kind that the cluster does not serve', async () => {
      begin();
      const manifest = { apiVersion: 'nothing.example.com/v1', kind: 'Nothing', metadata };
      await expect(apply(manifest)).rejects.toMatchObject({ status: 404 });
    });

    test('a namespace that does not exist, with the words of the API server', async () => {
      const manifest = begin({}, { namespace: 'nowhere' });
      await expect(apply(manifest)).rejects.toThrow('namespaces "nowhere" not found');
      expect(takeCalls()).toBe('get create');
    });

    test('a field that cannot change, with the words of the API server', async () => {
      const manifest = { ...begin(), immutable: true };
      await apply(manifest);
      await expect(apply({ ...manifest, data: { a: '2' } })).rejects.toThrow(
        /data: Forbidden: field is immutable/,
      );
    });

    test.each([
      [
        'a field that does not exist',
        { unknownField: 1 },
        /^Secret "[^"]*" is invalid: strict decoding error: unknown field "unknownField"$/,
      ],
      [
        'data of the wrong form',
        { data: { password: 'swordfish!' } },
        /^Secret "[^"]*" is invalid: .*illegal base64/,
      ],
      ['data of another type', { data: { password: 5318008 } }, /^Secret "[^"]*" is invalid: cannot restore/],
      [
        'data of another type, server-side',
        { data: { password: 5318008 } },
        /\.data\.password: expected string$/,
      ],
    ])('%s, without showing the secret', async (title, change, message) => {
      const { data: __, ...identity } = begin();
      const secret = { ...identity, kind: 'Secret', data: { password: 'c3dvcmRmaXNo' } };
      await apply(secret);
      const refusal = await getFailure(
        apply({ ...secret, ...change }, { serverSide: title.endsWith('server-side') }),
      );
      expect(getPath(refusal, 'message') ?? String(refusal)).toMatch(message);
      expect(JSON.stringify([String(refusal), refusal])).not.toMatch(/c3dvcmRmaXNo|swordfish|5318008/);
    });
  });

  describe('server-side', () => {
    const owners = (object: JsonObject) =>
      (getPath(object, 'metadata', 'managedFields') as JsonObject[]).map(
        ({ manager, operation }) => `${manager} ${operation}`,
      );

    test('is one call, and writes no annotation', async () => {
      const manifest = begin();
      const { object, outcome } = await apply(manifest, { serverSide: true });
      expect(outcome).toBe('configured');
      expect(getPath(object, 'metadata', 'annotations')).toBeUndefined();
      expect(owners(object)).toEqual(['kubectl Apply']);
      expect(takeCalls()).toBe('patch');
      const changed = await apply({ ...manifest, data: { b: '2' } }, { serverSide: true });
      expect(getPath(changed.object, 'data')).toEqual({ b: '2' });
      expect(takeCalls()).toBe('patch');
    });

    test('takes over the fields of client-side applies once, and keeps their annotation up to date', async () => {
      const manifest = begin({ a: '1', b: '2' });
      await apply(manifest);
      takeCalls();
      const changed = { ...manifest, data: { a: '1' } };
      const { object, warnings } = await apply(changed, { serverSide: true });
      expect(takeCalls()).toBe('patch patch patch patch');
      expect(warnings).toEqual([]);
      expect(getPath(object, 'data')).toEqual({ a: '1' });
      expect(getPath(object, 'metadata', 'annotations', lastApplied)).not.toContain('"b"');
      expect(owners(object).sort()).toEqual(['kubectl Apply', 'kubectl-last-applied Apply']);
      await apply(changed, { serverSide: true });
      expect(takeCalls()).toBe('patch');
    });

    test('takes over the fields although the object changes meanwhile', async () => {
      const manifest = begin({ a: '1', b: '2' });
      await apply(manifest);
      takeCalls();
      watched.interrupt(3, () => requestApi('PATCH', getTarget(manifest), { data: { c: '3' } }));
      const { object } = await apply({ ...manifest, data: { a: '1' } }, { serverSide: true });
      expect(takeCalls()).toBe('patch patch patch get patch patch');
      expect(getPath(object, 'data')).toEqual({ a: '1', c: '3' });
    });

    test('fails on fields of others, with the words of the API server, unless it is forced', async () => {
      const manifest = begin({ a: '1' });
      await apply(manifest, { serverSide: true });
      await requestApi('PATCH', `${getTarget(manifest)}?fieldManager=somebody`, { data: { a: '9' } });
      const changed = { ...manifest, data: { a: '2' } };
      await expect(apply(changed, { serverSide: true })).rejects.toThrow(
        /conflict with "somebody".*\.data\.a/,
      );
      const { object } = await apply(changed, { serverSide: 'force-conflicts' });
      expect(getPath(object, 'data')).toEqual({ a: '2' });
    });
  });
});
