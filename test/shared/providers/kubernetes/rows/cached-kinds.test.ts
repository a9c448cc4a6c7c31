import { expect, test } from 'vitest';
import { createKindRegistry } from '#providers/kubernetes/kinds/index.ts';
import { type CachedKindsInput, listCachedKinds } from '#providers/kubernetes/rows/cached-kinds.ts';

const shown = [
  ...['cronJob', 'daemonSet', 'deployment', 'ingress', 'job', 'networkPolicy', 'pod', 'replicaSet'],
  ...['service', 'statefulSet'],
];

interface Parts {
  readonly registry?: CachedKindsInput['registry'];
  readonly definedKinds?: readonly string[];
  readonly rules?: Partial<CachedKindsInput['rules']>;
  readonly settings?: Partial<CachedKindsInput['settings']>;
}

function list({ registry = createKindRegistry(), definedKinds = [], rules, settings }: Parts): string[] {
  return listCachedKinds({
    registry,
    definedKinds,
    rules: { kinds: [], omitKinds: [], ...rules },
    settings: { cacheAll: false, cacheKinds: undefined, cacheOmitKinds: [], ...settings },
  }).sort();
}

test('what Deck shows, unless something else is said', () => {
  expect(list({ definedKinds: ['CronTab.stable.example.com'] })).toEqual(shown);
});

test('every kind, built in and defined by the cluster', () => {
  const kinds = list({ settings: { cacheAll: true }, definedKinds: ['CronTab.stable.example.com'] });
  expect(kinds).toEqual(expect.arrayContaining([...shown, 'CronTab.stable.example.com', 'secret', 'event']));
});

test('only the kinds that are named, however they are written, if there are such', () => {
  const cacheKinds = ['DEPLOY', 'configmap', 'crontab.stable.example.com', 'Nonsense.example.com'];
  expect(list({ settings: { cacheKinds }, definedKinds: ['CronTab.stable.example.com'] })).toEqual([
    'CronTab.stable.example.com',
    'configMap',
    'deployment',
  ]);
});

test('nothing that all accounts leave out', () => {
  const cacheOmitKinds = ['po', 'svc'];
  expect(list({ settings: { cacheOmitKinds } })).toEqual(
    shown.filter((kind) => kind !== 'pod' && kind !== 'service'),
  );
});

test("only the account's own kinds, or not those it leaves out", () => {
  expect(list({ rules: { kinds: ['deployment', 'secret', 'rs'] } })).toEqual(['deployment', 'replicaSet']);
  expect(list({ rules: { omitKinds: ['job', 'cronjob'] } })).toEqual(
    shown.filter((kind) => kind !== 'job' && kind !== 'cronJob'),
  );
});

test('custom resources that the account counts among what Deck shows', () => {
  const registry = createKindRegistry([
    { kubernetesKind: 'Fleet.agones.dev', spinnakerKind: 'serverGroups' },
    { kubernetesKind: 'CronTab.stable.example.com' },
  ]);
  expect(list({ registry })).toEqual(['Fleet.agones.dev', ...shown]);
});
