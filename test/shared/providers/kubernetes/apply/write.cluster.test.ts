import { beforeAll, describe, expect, test } from 'vitest';
import { InvalidInputError } from '#core/errors.ts';
import { getPath, type JsonObject } from '#core/json.ts';
import { systemClock } from '#platform/services/system.ts';
import type { KubernetesClient } from '#providers/kubernetes/api/client.ts';
import { createManifest, replaceManifest as replace } from '#providers/kubernetes/apply/write.ts';
import {
  createNamespace,
  describeWithCluster,
  requestApi,
  type TestNamespace,
} from '#test/support/cluster/cluster.ts';
import { disposeAfterAll } from '#test/support/run/disposal.ts';
import { createTestClient } from '../client/client-setup.ts';
import { watchClient } from './watched-client.ts';

describeWithCluster('writing without a merge', ({ kubeconfig }) => {
  const inner = createTestClient({ kubeconfigFile: kubeconfig });
  let namespace: TestNamespace;
  let serial = 0;

  beforeAll(async () => {
    namespace = await createNamespace('write');
  });
  disposeAfterAll(() => [namespace, inner]);

  function begin(metadata: JsonObject = {}) {
    serial += 1;
    const name = `w${serial}`;
    const identity = { name, namespace: namespace.name, ...metadata };
    const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata: identity, data: { a: '1' } };
    const target = `/api/v1/namespaces/${namespace.name}/configmaps/${name}`;
    return { ...watchClient(inner), manifest, target };
  }

  const replaceManifest = (client: KubernetesClient, manifest: JsonObject) =>
    replace(client, manifest, { clock: systemClock });

  describe('createManifest', () => {
    test('creates by one call, without annotation', async () => {
      const { client, calls, manifest } = begin();
      const object = await createManifest(client, manifest);
      expect(object).toMatchObject({
        data: { a: '1' },
        metadata: { managedFields: [{ manager: 'kubectl-create' }] },
      });
      expect(getPath(object, 'metadata', 'annotations')).toBeUndefined();
      expect(calls).toEqual(['create']);
    });

    test('lets the API server generate a name', async () => {
      const { client, manifest } = begin();
      const { name: _, ...metadata } = manifest.metadata;
      const object = await createManifest(client, {
        ...manifest,
        metadata: { ...metadata, generateName: 'made-' },
      });
      expect(getPath(object, 'metadata', 'name')).toMatch(/^made-\w+$/);
    });

    test('fails when the object exists', async () => {
      const { client, manifest } = begin();
      await createManifest(client, manifest);
      await expect(createManifest(client, manifest)).rejects.toMatchObject({ reason: 'AlreadyExists' });
    });

    test('refuses a manifest without any name', async () => {
      const { client, calls } = begin();
      await expect(createManifest(client, { apiVersion: 'v1', kind: 'ConfigMap' })).rejects.toThrow(
        new InvalidInputError('metadata: the manifest must have a name or a generateName'),
      );
      expect(calls).toEqual([]);
    });
  });

  describe('replaceManifest', () => {
    test('replaces the whole object by two calls', async () => {
      const { client, calls, manifest } = begin({ labels: { a: '1' } });
      const created = await createManifest(client, manifest);
      const { labels: _, ...metadata } = manifest.metadata as JsonObject;
      const replaced = await replaceManifest(client, { ...manifest, metadata, data: { b: '2' } });
      expect(replaced).toMatchObject({
        data: { b: '2' },
        metadata: { uid: getPath(created, 'metadata', 'uid') },
      });
      expect(getPath(replaced, 'metadata', 'labels')).toBeUndefined();
      expect(calls).toEqual(['create', 'get', 'replace']);
    });

    test('creates what does not exist', async () => {
      const { client, calls, manifest } = begin();
      expect(await replaceManifest(client, manifest)).toMatchObject({ data: { a: '1' } });
      expect(calls).toEqual(['get', 'create']);
    });

    test('creates what was deleted in between', async () => {
      const { client, calls, interrupt, manifest, target } = begin();
      await createManifest(client, manifest);
      interrupt(3, () => requestApi('DELETE', target));
      expect(await replaceManifest(client, { ...manifest, data: { b: '2' } })).toMatchObject({
        data: { b: '2' },
      });
      expect(calls).toEqual(['create', 'get', 'replace', 'create']);
    });

    test('replaces what was changed in between', async () => {
      const { client, calls, interrupt, manifest, target } = begin();
      await createManifest(client, manifest);
      interrupt(3, () => requestApi('PATCH', target, { data: { c: '3' } }));
      expect(await replaceManifest(client, { ...manifest, data: { b: '2' } })).toMatchObject({
        data: { b: '2' },
      });
      expect(calls).toEqual(['create', 'get', 'replace', 'get', 'replace']);
    });

    test('replaces no other version than the one that the manifest names', async () => {
      const { client, calls, manifest, target } = begin();
      const object = await createManifest(client, manifest);
      await requestApi('PATCH', target, { data: { c: '3' } });
      await expect(replaceManifest(client, { ...object, data: { b: '2' } })).rejects.toMatchObject({
        reason: 'Conflict',
      });
      expect(calls).toEqual(['create', 'replace']);
    });

    test('refuses a manifest without a name', async () => {
      const { client } = begin();
      await expect(replaceManifest(client, { apiVersion: 'v1', kind: 'ConfigMap' })).rejects.toThrow(
        new InvalidInputError('metadata.name: replace needs it'),
      );
    });
  });
});
