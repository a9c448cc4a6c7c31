import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InvalidInputError } from '#core/errors.ts';
import { builtInKinds } from '#providers/kubernetes/kinds/index.ts';
import {
  formatFullName,
  getKindName,
  isSameKind,
  parseFullName,
  parseKind,
  splitKind,
  toKindKey,
} from '#providers/kubernetes/kinds/name.ts';

const words = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9-]{0,12}$/);

describe('parseKind', () => {
  const spellings: { [kind: string]: string[] } = {
    deployment: ['deployment', 'Deployment', 'DEPLOY', 'deployment.apps', 'Deployment.APPS'],
    ingress: ['Ingress.networking.k8s.io'],
    replicaSet: ['replicaset', 'rs'],
    horizontalpodautoscaler: ['HorizontalPodAutoscaler', 'hpa'],
    csiDriver: ['csidriver'],
    csiNode: ['CSINode.storage.k8s.io'],
    none: ['', 'NONE'],
  };
  const strange = [
    ...['Endpoints', 'CronTab.stable.example.com', 'Deployment.example.com'],
    ...['EndpointSlice.discovery.k8s.io', 'Gateway.gateway.networking.k8s.io'],
  ];

  test.each([
    ...Object.entries(spellings).flatMap(([kind, texts]) => texts.map((text) => [text, kind])),
    ...strange.map((kind) => [kind, kind]),
  ])('reads %j as %j', (text = '', kind) => {
    expect(parseKind(text)).toBe(kind);
  });

  test.each(builtInKinds)(
    'knows $name by every name and in any case',
    ({ name, aliases, kubernetesKind }) => {
      for (const spelling of [name, kubernetesKind, ...aliases]) {
        expect(parseKind(spelling)).toBe(name);
        expect(parseKind(spelling.toUpperCase())).toBe(name);
        expect(parseKind(spelling.toLowerCase())).toBe(name);
      }
    },
  );

  test('leaves its own answers alone', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(parseKind(parseKind(text))).toBe(parseKind(text));
      }),
    );
  });
});

test.each([
  ['v1', 'ConfigMap', 'configMap'],
  ['apps/v1', 'Deployment', 'deployment'],
  ['extensions/v1beta1', 'Deployment', 'deployment'],
  ['autoscaling/v2', 'HorizontalPodAutoscaler', 'horizontalpodautoscaler'],
  ['networking.k8s.io/v1', 'NetworkPolicy', 'networkPolicy'],
  ['crd.projectcalico.org/v1', 'NetworkPolicy', 'NetworkPolicy.crd.projectcalico.org'],
  ['serving.knative.dev/v1', 'Service', 'Service.serving.knative.dev'],
  ['events.k8s.io/v1', 'Event', 'Event.events.k8s.io'],
  ['coordination.k8s.io/v1', 'Lease', 'Lease.coordination.k8s.io'],
  ['v1', 'Endpoints', 'Endpoints'],
  ['', '', 'none'],
])('getKindName names %s %s %s', (apiVersion, kind, name) => {
  expect(getKindName(apiVersion, kind)).toBe(name);
});

test.each([
  ['rs', 'ReplicaSet', true],
  ['crontab.stable.example.com', 'CronTab.Stable.example.com', true],
  ['endpoints', 'Endpoints', true],
  ['deployment', 'Deployment.example.com', false],
  ['pod', 'podPreset', false],
])('isSameKind of %s and %s is %s', (one, other, same) => {
  expect(isSameKind(one, other)).toBe(same);
  expect(toKindKey(one) === toKindKey(other)).toBe(same);
});

test('splitKind cuts at the first dot', () => {
  expect(splitKind('a.b.c')).toEqual({ name: 'a', group: 'b.c' });
  expect(splitKind('pod')).toEqual({ name: 'pod' });
});

describe('full names', () => {
  test('are kind and name', () => {
    expect(parseFullName('deployment web')).toEqual({ kind: 'deployment', name: 'web' });
    expect(parseFullName('RS web-v000')).toEqual({ kind: 'replicaSet', name: 'web-v000' });
    expect(parseFullName('clusterRole system:node')).toEqual({ kind: 'clusterRole', name: 'system:node' });
  });

  test.each(['', 'deployment', 'deployment ', ' web', 'deployment  web', 'deployment web x'])(
    'refuses %j',
    (text) => {
      expect(() => parseFullName(text)).toThrow(InvalidInputError);
      expect(() => parseFullName(text)).toThrow(/'kind name'/);
    },
  );

  test('survive being written and read', () => {
    fc.assert(
      fc.property(fc.constantFrom(...builtInKinds), words, ({ name: kind }, name) => {
        expect(parseFullName(formatFullName(kind, name))).toEqual({ kind, name });
      }),
    );
  });
});
