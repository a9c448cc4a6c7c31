import { describe, expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '#core/json.ts';
import { listObjects, overrideNamespace, setName } from '#providers/kubernetes/manifest/expand.ts';
import { readKind } from '#providers/kubernetes/manifest/identity.ts';
import { freeze } from '#test/support/engines/frozen.ts';
import { createManifest } from '../manifests.ts';

const pod = freeze({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', namespace: 'x' } });
const role = freeze(createManifest('rbac.authorization.k8s.io/v1', 'ClusterRole', { name: 'b' }));

describe('listObjects', () => {
  const list = (kind: string, items: JsonValue) => ({ apiVersion: 'v1', kind, items });
  const listed = (object: JsonObject) => listObjects(object).map((each) => each.value);

  test.each(['List', 'list', 'LIST', 'PodList'])('a %s is its items', (kind) => {
    expect(listObjects(list(kind, [pod, null, role]))).toEqual([
      { path: ['items', 0], value: pod },
      { path: ['items', 2], value: role },
    ]);
  });

  test('a list in a list stays: kubectl refuses it, too', () => {
    const inner = list('PodList', [pod]);
    expect(listed(list('List', [role, inner]))).toEqual([role, inner]);
  });

  test('items of a list of one kind are of that kind, unless they name one', () => {
    const { metadata } = pod;
    const items = [{ metadata }, { kind: 'Secret', metadata }, { apiVersion: 'v2', metadata }];
    expect(listed(list('PodList', items))).toEqual([pod, items[1], items[2]]);
    expect(listed(list('List', [{ metadata }]))).toEqual([{ metadata }]);
  });

  test('what has no items is no list, but for a List', () => {
    const allowed = { apiVersion: 'example.com/v1', kind: 'AllowList', metadata: { name: 'a' } };
    expect(listed(allowed)).toEqual([allowed]);
    expect(listed({ ...allowed, items: 'x' })).toHaveLength(1);
    expect(listed({ ...allowed, kind: 'Allow', items: [] })).toHaveLength(1);
    expect(listed(list('List', null))).toEqual([]);
  });
});

describe('overrideNamespace', () => {
  const isNamespaced = (manifest: object) => readKind(manifest as typeof pod) !== 'clusterRole';

  test('changes what lives in a namespace', () => {
    expect(overrideNamespace([pod, role], 'shop', isNamespaced)).toEqual([
      { ...pod, metadata: { name: 'a', namespace: 'shop' } },
      role,
    ]);
  });

  test.each(['', '  '])('changes nothing for %j', (namespace) => {
    expect(overrideNamespace([pod, role], namespace, isNamespaced)).toEqual([pod, role]);
  });
});

test('setName sets the name alone', () => {
  expect(setName(pod, 'a-v003')).toEqual({ ...pod, metadata: { name: 'a-v003', namespace: 'x' } });
});
