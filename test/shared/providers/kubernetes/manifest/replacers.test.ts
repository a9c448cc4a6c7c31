import { describe, expect, test } from 'vitest';
import type { JsonValue } from '#core/json.ts';
import type { Artifact } from '#provider-kit/artifact.ts';
import type { Manifest } from '#providers/kubernetes/api/manifest.ts';
import { createKindRegistry } from '#providers/kubernetes/kinds/index.ts';
import { bindArtifacts, findArtifacts, type ImageBinding } from '#providers/kubernetes/manifest/artifacts.ts';
import { freeze } from '#test/support/engines/frozen.ts';

const { find } = createKindRegistry();
const tools = { type: 'docker/image', name: 'tools', reference: 'tools:2' };
const place = { namespace: 'shop', account: 'prod' };
const identity = { name: 'settings', location: 'shop', reference: 'settings-v003' };
const settings = { ...identity, type: 'kubernetes/configMap' };

interface Target {
  readonly manifest: Manifest;
  readonly kind: string;
  readonly imageBinding?: ImageBinding;
}

/** Binds in a target in the namespace `shop`. */
function bind(
  artifacts: readonly Artifact[],
  { manifest, kind, imageBinding = 'match-name-and-tag' }: Target,
) {
  return bindArtifacts({ ...place, manifest, kind: find(kind), imageBinding, artifacts });
}

/** The value in which each string `from` is `to`. */
function substitute(value: JsonValue, from: string, to: string): JsonValue {
  return JSON.parse(JSON.stringify(value).replaceAll(`"${from}"`, `"${to}"`)) as JsonValue;
}

/** A bare pod with one image in each of its lists. */
function makePod(containerImage: string): Manifest {
  return freeze({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'lone', namespace: 'shop' },
    spec: {
      initContainers: [{ image: 'tools' }],
      containers: [{ image: containerImage }],
      volumes: [{ configMap: { name: 'settings' } }],
    },
  });
}

describe('an image', () => {
  const withImage = (text: string): Manifest =>
    freeze({ spec: { template: { spec: { containers: [{ image: text }] } } } });
  const imageOf = (manifest: Manifest) => findArtifacts(manifest, find('deployment'))[0]?.reference;

  test.for([
    ['nginx', 'nginx', 'match-name-and-tag', true],
    ['nginx:1.2', 'nginx', 'match-name-and-tag', true],
    ['nginx:1.2@sha256:1f', 'nginx', 'match-name-and-tag', true],
    ['nginx:1.2@sha256:1f', 'nginx:1.2', 'match-name-and-tag', false],
    ['registry:5000/nginx:1@sha256:1f', 'registry:5000/nginx', 'match-name-and-tag', true],
    ['registry:5000/nginx@sha256:1f', 'registry:5000/nginx', 'match-name-and-tag', true],
    ['nginx@sha256:1f', 'nginx', 'match-name-and-tag', true],
    ['registry:5000/nginx:1', 'registry:5000/nginx', 'match-name-and-tag', true],
    ['registry:5000/nginx', 'registry', 'match-name-and-tag', true],
    ['registry:5000/nginx', 'registry:5000/nginx', 'match-name-and-tag', false],
    ['nginx:1.2', 'nginx:1.2', 'match-name-and-tag', false],
    ['library/nginx', 'nginx', 'match-name-and-tag', false],
    ['nginx', 'nginx', 'match-name-only', true],
    ['nginx:1.2', 'nginx', 'match-name-only', false],
    ['nginx:1.2', 'nginx:1.2', 'match-name-only', true],
    ['registry:5000/nginx', 'registry:5000/nginx', 'match-name-only', true],
  ] as const)('%s takes the artifact %s under %s: %s', ([field, name, imageBinding, taken]) => {
    const artifact = { type: 'docker/image', name, reference: 'new:1' };
    const result = bind([artifact], { manifest: withImage(field), kind: 'deployment', imageBinding });
    expect(imageOf(result.manifest)).toBe(taken ? 'new:1' : field);
    expect(result.bound).toEqual(taken ? [artifact] : []);
  });

  test.each([
    ['web', true],
    ['web:1', false],
  ])('of a bare pod (%s) must be named whole', (field, taken) => {
    const artifact = { type: 'docker/image', name: 'web', reference: 'web:2' };
    for (const imageBinding of ['match-name-and-tag', 'match-name-only'] as const) {
      const manifest = makePod(field);
      const result = bind([artifact], { manifest, kind: 'pod', imageBinding });
      expect(result.manifest).toEqual(taken ? substitute(manifest, 'web', 'web:2') : manifest);
    }
  });

  test('of a bare pod’s init container stays', () => {
    const manifest = makePod('x');
    expect(bind([tools], { manifest, kind: 'pod' })).toEqual({ manifest, bound: [] });
  });
});

test('a bare pod takes the versions of its config maps', () => {
  const manifest = makePod('x');
  const changed = substitute(manifest, 'settings', 'settings-v003');
  expect(bind([settings], { manifest, kind: 'pod' })).toEqual({ manifest: changed, bound: [settings] });
});

describe('an autoscaler', () => {
  const target = (kind: string): Manifest =>
    freeze({ spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind, name: 'web' } } });
  const web = { name: 'web', location: 'shop', reference: 'web-v001' };
  const artifactOf = (kind: string) => ({ ...web, type: `kubernetes/${kind}` });

  test.each([
    ['ReplicaSet', 'replicaSet', true],
    ['replicaSet', 'replicaSet', true],
    ['Deployment', 'deployment', true],
    ['deployment', 'deployment', true],
    ['ReplicaSet', 'deployment', false],
    ['Deployment', 'replicaSet', false],
    ['replicaset', 'replicaSet', false],
    ['StatefulSet', 'statefulSet', false],
  ])('of a %s takes a %s: %s', (targetKind, kind, taken) => {
    const manifest = target(targetKind);
    const result = bind([artifactOf(kind)], { manifest, kind: 'hpa' });
    expect(result.bound).toHaveLength(taken ? 1 : 0);
    expect(result.manifest).toEqual(taken ? substitute(manifest, 'web', 'web-v001') : manifest);
  });
});
