import { describe, expect, test } from 'vitest';
import { InvalidInputError } from '../../../../../shared/core/errors.ts';
import {
  expandLists,
  overrideNamespace,
  setName,
} from '../../../../../shared/providers/kubernetes/manifest/expand.ts';
import { readKind } from '../../../../../shared/providers/kubernetes/manifest/identity.ts';
import { freeze } from '../../../../support/engines/frozen.ts';
import { createManifest } from '../manifests.ts';

const pod = freeze({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', namespace: 'x' } });
const role = freeze(createManifest('rbac.authorization.k8s.io/v1', 'ClusterRole', { name: 'b' }));

describe('expandLists', () => {
  test('puts the items of a list in its place', () => {
    for (const kind of ['List', 'list', 'LIST']) {
      expect(expandLists([pod, { apiVersion: 'v1', kind, items: [role, null, pod] }, role])).toEqual([
        pod,
        role,
        pod,
        role,
      ]);
    }
  });

  test('drops nulls, and lists without items', () => {
    expect(expandLists([null, pod, undefined, { kind: 'List', items: null }, { kind: 'List' }])).toEqual([
      pod,
    ]);
  });

  test('leaves a list inside a list, and kinds that only end in List', () => {
    const inner = { kind: 'List', items: [pod] };
    const podList = { kind: 'PodList', items: [pod] };
    expect(expandLists([{ kind: 'List', items: [inner] }, podList])).toEqual([inner, podList]);
  });

  test.each([
    [[pod, 'x'], /manifests\[1\]: expected a Kubernetes object, got a string/],
    [[[pod]], /manifests\[0\]: .* got a list/],
    [[{ kind: 'List', items: [null, 7] }], /List\[1\]: .* got a number/],
  ])('refuses %j', (manifests, message) => {
    expect(() => expandLists(manifests)).toThrow(InvalidInputError);
    expect(() => expandLists(manifests)).toThrow(message);
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
