import { describe, expect, test } from 'vitest';
import { FailedOperationError, InvalidInputError } from '../../../../../shared/core/errors.ts';
import type { JsonObject } from '../../../../../shared/core/json.ts';
import { createKindRegistry } from '../../../../../shared/providers/kubernetes/kinds/index.ts';
import type { Manifest } from '../../../../../shared/providers/kubernetes/manifest/manifest.ts';
import {
  annotateLoadBalancers,
  attachService,
  createDisablePatch,
  createEnablePatch,
  findManifest,
  parseLoadBalancer,
  readLoadBalancers,
} from '../../../../../shared/providers/kubernetes/manifest/traffic.ts';
import { freeze } from '../../../../support/frozen.ts';

const key = 'traffic.spinnaker.io/load-balancers';
const registry = createKindRegistry();
const service: Manifest = freeze({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web', namespace: 'shop' },
  spec: { selector: { 'frontend/web~1': 'yes', tier: 'web' } },
});

/** A ReplicaSet with labels on its pod template. */
function makeReplicaSet(labels: JsonObject, annotations: JsonObject = {}): Manifest {
  return freeze({
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name: 'web', namespace: 'shop', annotations, labels: { object: 'own' } },
    spec: { selector: { matchLabels: { app: 'web' } }, template: { metadata: { labels } } },
  });
}

const replicaSet = makeReplicaSet({ app: 'web' });
const pod: Manifest = freeze({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web-x', labels: { tier: 'web' } },
});

describe('annotateLoadBalancers', () => {
  test('records them on the object alone', () => {
    const annotated = annotateLoadBalancers(replicaSet, ['service web', 'service api']);
    expect(annotated).toEqual({
      ...replicaSet,
      metadata: {
        ...(replicaSet.metadata as JsonObject),
        annotations: { [key]: '["service web","service api"]' },
      },
    });
    expect(readLoadBalancers(annotated)).toEqual(['service web', 'service api']);
  });

  test('leaves a workload alone that needs nothing', () => {
    expect(annotateLoadBalancers(replicaSet, [])).toBe(replicaSet);
    const annotated = makeReplicaSet({}, { [key]: '["service web"]' });
    expect(annotateLoadBalancers(annotated, ['service web'])).toBe(annotated);
    expect(annotateLoadBalancers(annotated, [])).toBe(annotated);
  });

  test.each(['["service api"]', '["service web","service api"]', '[]', 'broken', ''])(
    'refuses a workload that is annotated with %j',
    (value) => {
      const annotated = makeReplicaSet({}, { [key]: value });
      expect(() => annotateLoadBalancers(annotated, ['service web'])).toThrow(InvalidInputError);
      expect(() => annotateLoadBalancers(annotated, ['service web'])).toThrow(
        /^replicaSet web .*names service web/,
      );
    },
  );
});

describe('parseLoadBalancer', () => {
  test.each(['service web', 'svc web', 'Service web'])('takes %s', (text) => {
    expect(parseLoadBalancer(text, registry)).toEqual({ kind: 'service', name: 'web' });
  });

  test.each(['web', 'service', 'service web x', 'ingress web', 'Service.serving.knative.dev web'])(
    'refuses %s',
    (text) => {
      expect(() => parseLoadBalancer(text, registry)).toThrow(InvalidInputError);
      expect(() => parseLoadBalancer(text, registry)).toThrow(`'${text}' is no`);
    },
  );
});

describe('findManifest', () => {
  const coordinates = { kind: 'svc', namespace: 'shop', name: 'web' };

  test('finds by kind, namespace and name', () => {
    expect(findManifest([replicaSet, service], coordinates)).toBe(service);
  });

  test.each([{ kind: 'pod' }, { namespace: '' }, { name: 'api' }])('does not find with %j', (other) => {
    expect(findManifest([service], { ...coordinates, ...other })).toBeUndefined();
  });
});

describe('attachService', () => {
  test('adds what the service selects to the labels of the pod template', () => {
    expect(attachService(replicaSet, service)).toEqual(
      makeReplicaSet({ app: 'web', 'frontend/web~1': 'yes', tier: 'web' }),
    );
  });

  test('adds it to a bare pod itself', () => {
    const attached = attachService(freeze({ kind: 'Pod', metadata: { name: 'a' } }), service);
    expect(attached).toEqual({
      kind: 'Pod',
      metadata: { name: 'a', labels: { 'frontend/web~1': 'yes', tier: 'web' } },
    });
  });

  test('makes labels on a template that has none', () => {
    const bare = freeze({
      kind: 'ReplicaSet',
      metadata: { labels: { tier: 'x' } },
      spec: { template: { metadata: {} } },
    });
    expect(attachService(bare, service)).toEqual({
      ...bare,
      spec: { template: { metadata: { labels: { 'frontend/web~1': 'yes', tier: 'web' } } } },
    });
  });

  test.each(['web', 'other'])('refuses a workload that has one of the labels already, as %s', (value) => {
    const labelled = makeReplicaSet({ tier: value });
    expect(() => attachService(labelled, service)).toThrow(FailedOperationError);
    expect(() => attachService(labelled, service)).toThrow(
      /^replicaSet web has the labels tier already.*service web/,
    );
  });

  test('minds the labels of the template, not those of the object', () => {
    const selecting = { ...service, spec: { selector: { object: 'own' } } };
    expect(() => attachService(replicaSet, selecting)).not.toThrow();
  });

  test.each([{}, { spec: null }, { spec: { selector: null } }, { spec: { selector: {} } }])(
    'refuses a service that selects nothing: %j',
    (fields) => {
      const selectless = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'web' }, ...fields };
      for (const rule of [attachService, createEnablePatch, createDisablePatch]) {
        expect(() => rule(replicaSet, selectless)).toThrow(FailedOperationError);
        expect(() => rule(replicaSet, selectless)).toThrow(/service web has no selector/);
      }
    },
  );

  test('refuses a service of another version', () => {
    expect(() => attachService(replicaSet, { ...service, apiVersion: 'v2' })).toThrow(
      /apiVersion v2: expected v1/,
    );
  });
});

describe('patches', () => {
  const path = '/spec/template/metadata/labels/';

  test('enable adds labels, and replaces those that are there', () => {
    expect(createEnablePatch(makeReplicaSet({ tier: 'db' }), service)).toEqual([
      { op: 'add', path: `${path}frontend~1web~01`, value: 'yes' },
      { op: 'replace', path: `${path}tier`, value: 'web' },
    ]);
  });

  test('enable works on a pod itself, also on one without labels', () => {
    expect(createEnablePatch(pod, service)).toEqual([
      { op: 'add', path: '/metadata/labels/frontend~1web~01', value: 'yes' },
      { op: 'replace', path: '/metadata/labels/tier', value: 'web' },
    ]);
    expect(createEnablePatch({ metadata: {} }, service)[0]).toEqual({
      op: 'add',
      path: '/metadata/labels',
      value: {},
    });
  });

  test('disable removes the labels that are there, whatever their value', () => {
    expect(createDisablePatch(makeReplicaSet({ tier: 'db', app: 'web' }), service)).toEqual([
      { op: 'remove', path: `${path}tier` },
    ]);
    expect(createDisablePatch(pod, service)).toEqual([{ op: 'remove', path: '/metadata/labels/tier' }]);
    expect(createDisablePatch(replicaSet, service)).toEqual([]);
    expect(createDisablePatch({ metadata: {} }, service)).toEqual([]);
  });

  test('disable takes back what attaching added', () => {
    const removed = createDisablePatch(attachService(replicaSet, service), service).map(({ path: at }) => at);
    expect(removed).toEqual([`${path}frontend~1web~01`, `${path}tier`]);
  });
});
