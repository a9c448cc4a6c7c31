import { describe, expect, test } from 'vitest';
import { FailedOperationError, InvalidInputError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import type { Manifest } from '#providers/kubernetes/api/manifest.ts';
import { createKindRegistry } from '#providers/kubernetes/kinds/index.ts';
import {
  annotateLoadBalancers,
  attachService,
  createLabelPatch,
  findManifest,
  listDisablingLabels,
  listEnablingLabels,
  parseLoadBalancer,
  readLoadBalancers,
} from '#providers/kubernetes/manifest/traffic.ts';
import { freeze } from '#test/support/engines/frozen.ts';
import { createManifest } from '../manifests.ts';

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
const pod: Manifest = freeze(createManifest('v1', 'Pod', { name: 'web-x', labels: { tier: 'web' } }));

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

  test.each(['["service api"]', '["service web","service api"]', '[]', ''])(
    'refuses a workload that is annotated with %j',
    (value) => {
      const annotated = makeReplicaSet({}, { [key]: value });
      expect(() => annotateLoadBalancers(annotated, ['service web'])).toThrow(InvalidInputError);
      expect(() => annotateLoadBalancers(annotated, ['service web'])).toThrow(
        /^replicaSet web .*names service web/,
      );
    },
  );

  test('refuses a workload whose annotation cannot be read', () => {
    const annotated = makeReplicaSet({}, { [key]: 'service web' });
    expect(() => annotateLoadBalancers(annotated, ['service web'])).toThrow(
      /^replicaSet web: annotation traffic.spinnaker.io\/load-balancers: expected a JSON array/,
    );
  });
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
      const attach = () => attachService(replicaSet, selectless);
      const enable = () => listEnablingLabels([service, selectless]);
      const disable = () => listDisablingLabels([service, selectless]);
      for (const rule of [attach, enable, disable]) {
        expect(rule).toThrow(FailedOperationError);
        expect(rule).toThrow(/service web has no selector/);
      }
    },
  );

  test('refuses a service of another version', () => {
    expect(() => attachService(replicaSet, { ...service, apiVersion: 'v2' })).toThrow(
      /apiVersion v2: expected v1/,
    );
  });
});

describe('labels that turn traffic', () => {
  const other = { ...service, spec: { selector: { tier: 'other', zone: 'a' } } };

  test('are those of all services, of which the last counts', () => {
    expect(listEnablingLabels([service, other])).toEqual({
      'frontend/web~1': 'yes',
      tier: 'other',
      zone: 'a',
    });
    expect(listDisablingLabels([service, other])).toEqual({ 'frontend/web~1': null, tier: null, zone: null });
    expect(listEnablingLabels([])).toEqual({});
  });

  test('are added to a pod template, where they are not as wanted', () => {
    const wanted = { added: 'yes', tier: 'web', app: 'web' };
    expect(createLabelPatch(makeReplicaSet({ tier: 'db', app: 'web' }), wanted)).toEqual({
      spec: { template: { metadata: { labels: { added: 'yes', tier: 'web' } } } },
    });
  });

  test('are removed from a pod template, where they are', () => {
    expect(
      createLabelPatch(makeReplicaSet({ tier: 'db', app: 'web' }), { tier: null, absent: null }),
    ).toEqual({
      spec: { template: { metadata: { labels: { tier: null } } } },
    });
  });

  test('are those of a pod itself, also of one without labels', () => {
    expect(createLabelPatch({ metadata: {} }, { tier: 'web' })).toEqual({
      metadata: { labels: { tier: 'web' } },
    });
    expect(createLabelPatch({ metadata: {} }, { tier: null })).toBeUndefined();
    expect(createLabelPatch(pod, {})).toBeUndefined();
  });

  test('disabling takes back what attaching added', () => {
    const attached = attachService(replicaSet, service);
    expect(createLabelPatch(attached, listEnablingLabels([service]))).toBeUndefined();
    expect(createLabelPatch(attached, listDisablingLabels([service]))).toEqual({
      spec: { template: { metadata: { labels: { 'frontend/web~1': null, tier: null } } } },
    });
    expect(createLabelPatch(replicaSet, listDisablingLabels([service]))).toBeUndefined();
  });
});
