import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import {
  findReplicas,
  readCoordinates,
  readCreationTimestamp,
  readFullName,
  readGenerateName,
  readMoniker,
  readOwners,
} from '#providers/kubernetes/manifest/identity.ts';

const web = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web', namespace: 'shop' } };

/** An object of a kind with a name and annotations. */
function make(kind: string, name: string, annotations: JsonObject) {
  return { apiVersion: 'apps/v1', kind, metadata: { name, annotations } };
}

describe('coordinates', () => {
  test.each([
    [web, { kind: 'deployment', namespace: 'shop', name: 'web' }],
    [
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } },
      { kind: 'namespace', namespace: '', name: 'shop' },
    ],
    [
      { apiVersion: 'stable.example.com/v1', kind: 'CronTab', metadata: { name: 'a', namespace: null } },
      { kind: 'CronTab.stable.example.com', namespace: '', name: 'a' },
    ],
    [{}, { kind: 'none', namespace: '', name: '' }],
  ])('of %j', (manifest, coordinates) => {
    expect(readCoordinates(manifest)).toEqual(coordinates);
  });

  test('make the full name, in which a prefix stands for a name to come', () => {
    expect(readFullName(web)).toBe('deployment web');
    const job = { apiVersion: 'batch/v1', kind: 'Job', metadata: { generateName: 'smoke-' } };
    expect(readFullName(job)).toBe('job smoke-');
    expect(readGenerateName(job)).toBe('smoke-');
  });

  test('take a name before a prefix', () => {
    expect(readGenerateName({ metadata: { name: 'a', generateName: 'a-' } })).toBeUndefined();
    expect(readGenerateName({ metadata: { name: '', generateName: '' } })).toBeUndefined();
  });
});

describe('readMoniker', () => {
  test('takes the annotations', () => {
    const manifest = make('ReplicaSet', 'x-v007', {
      'moniker.spinnaker.io/application': 'cart',
      'moniker.spinnaker.io/cluster': 'deployment cart',
      'moniker.spinnaker.io/stack': 'prod',
      'moniker.spinnaker.io/detail': 'eu',
      'moniker.spinnaker.io/sequence': '3',
      'deployment.kubernetes.io/revision': '9',
    });
    expect(readMoniker(manifest)).toEqual({
      app: 'cart',
      cluster: 'deployment cart',
      stack: 'prod',
      detail: 'eu',
      sequence: 3,
    });
  });

  test('decodes what old releases stored', () => {
    const annotations = {
      'moniker.spinnaker.io/application': '"cart"',
      'moniker.spinnaker.io/sequence': '"4"',
    };
    expect(readMoniker(make('ReplicaSet', 'x', annotations))).toMatchObject({ app: 'cart', sequence: 4 });
  });

  test('falls back to the name, but not for stack and detail', () => {
    expect(readMoniker(make('ConfigMap', 'cart-prod-eu-v012', {}))).toEqual({
      app: 'cart',
      cluster: 'cart-prod-eu',
      sequence: 12,
    });
    expect(readMoniker(make('Pod', 'foo:bar', {}))).toEqual({});
    expect(readMoniker({})).toEqual({});
  });

  const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'cart-prod-v003', controller: true };

  test.each([
    ['of a Deployment has that one’s cluster', deployment, 'cart-prod'],
    ['of another kind has its own', { ...deployment, apiVersion: 'example.com/v1' }, 'cart-prod-v003-5b9'],
    ['that no Deployment controls has its own', { ...deployment, controller: false }, 'cart-prod-v003-5b9'],
    ['of nobody has its own', undefined, 'cart-prod-v003-5b9'],
  ])('a ReplicaSet %s', (_, owner, cluster) => {
    const metadata = { name: 'cart-prod-v003-5b9', ...(owner && { ownerReferences: [owner] }) };
    expect(readMoniker({ apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata })).toEqual({
      app: 'cart',
      cluster,
    });
    const annotations = { 'moniker.spinnaker.io/cluster': 'deployment cart' };
    const annotated = { apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata: { ...metadata, annotations } };
    expect(readMoniker(annotated).cluster).toBe('deployment cart');
  });

  test.each([
    ['ReplicaSet', { 'deployment.kubernetes.io/revision': '9' }, 9],
    ['Deployment', { 'deployment.kubernetes.io/revision': '9' }, 7],
    ['ReplicaSet', {}, 7],
    [
      'ReplicaSet',
      { 'moniker.spinnaker.io/sequence': 'x', 'deployment.kubernetes.io/revision': '9' },
      undefined,
    ],
    ['Deployment', { 'moniker.spinnaker.io/sequence': 'x' }, undefined],
    ['ReplicaSet', { 'deployment.kubernetes.io/revision': 'x' }, undefined],
  ])('takes the sequence of a %s with %j for %j', (kind, annotations, sequence) => {
    expect(readMoniker(make(kind, 'cart-v007', annotations)).sequence).toBe(sequence);
  });

  test('reads no labels', () => {
    const manifest = { ...web, metadata: { name: 'web', labels: { 'app.kubernetes.io/name': 'cart' } } };
    expect(readMoniker(manifest)).toEqual({ app: 'web', cluster: 'web' });
  });
});

test('owners are named by Spinnaker’s kinds', () => {
  const ownerReferences = [
    { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'cart-v003', uid: 'u1', controller: true },
    { apiVersion: 'argoproj.io/v1alpha1', kind: 'Rollout', name: 'cart', uid: 'u2' },
    null,
  ];
  expect(readOwners({ metadata: { ownerReferences } })).toEqual([
    { kind: 'replicaSet', name: 'cart-v003', uid: 'u1' },
    { kind: 'Rollout.argoproj.io', name: 'cart', uid: 'u2' },
  ]);
  expect(readOwners(web)).toEqual([]);
});

test('replicas and creation time are read where they are', () => {
  expect(findReplicas({ spec: { replicas: 0 } })).toBe(0);
  expect(findReplicas({ spec: { replicas: '3' } })).toBeUndefined();
  expect(findReplicas({ spec: [] })).toBeUndefined();
  expect(readCreationTimestamp({ metadata: { creationTimestamp: '2026-01-01T00:00:00Z' } })).toBe(
    '2026-01-01T00:00:00Z',
  );
  expect(readCreationTimestamp({})).toBe('');
});

test('reading never throws, whatever the JSON', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.constantFrom('kind', 'metadata', 'spec', 'apiVersion'), fc.jsonValue()),
      (value) => {
        const manifest = value as JsonObject;
        readCoordinates(manifest);
        readFullName(manifest);
        readMoniker(manifest);
        readOwners(manifest);
      },
    ),
  );
});
