import { expect, test } from 'vitest';
import { createKindRegistry } from '#providers/kubernetes/kinds/index.ts';
import { toFacts } from '#providers/kubernetes/rows/to-facts.ts';
import { type AccountResources, toRawResourceViews } from '#providers/kubernetes/views/raw-resource-view.ts';
import { createManifest } from '../manifests.ts';

const registry = createKindRegistry();
const resources = [
  ['v1', 'ConfigMap'],
  ['v1', 'Service'],
  ['v1', 'Pod'],
  ['apps/v1', 'Deployment'],
  ['apps/v1', 'ReplicaSet'],
].map(([apiVersion = '', kind = '']) => toFacts(createManifest(apiVersion, kind, { name: 'web' }), registry));

interface Parts extends Partial<Omit<AccountResources['rules'], 'rawResources'>> {
  readonly kindExpressions?: readonly string[];
  readonly omitKindExpressions?: readonly string[];
}

function listKinds({ kindExpressions = [], omitKindExpressions = [], ...rules }: Parts): string[] {
  const rawResources = { kindExpressions, omitKindExpressions };
  const all = { kinds: [], omitKinds: [], allApplicationRelationships: true, ...rules, rawResources };
  return toRawResourceViews([{ account: 'test', resources, rules: all }]).map(({ kind }) => kind);
}

const kinds = resources.map(({ kind }) => kind);

test('every kind, where the account lists all with their application', () => {
  expect(listKinds({})).toEqual(kinds);
});

test('else only what belongs to an application by itself', () => {
  expect(listKinds({ allApplicationRelationships: false })).toEqual(['service', 'deployment', 'replicaSet']);
});

test("only the account's kinds", () => {
  expect(listKinds({ kinds: ['cm', 'svc'] })).toEqual(['configMap', 'service']);
  expect(listKinds({ omitKinds: ['po'] })).toEqual(kinds.filter((kind) => kind !== 'pod'));
});

test('only kinds that an expression matches whole', () => {
  expect(listKinds({ kindExpressions: ['.*Set', 'service|pod'] })).toEqual(['service', 'pod', 'replicaSet']);
  expect(listKinds({ kindExpressions: ['Map'] })).toEqual([]);
});

test('no kinds that an omitting expression matches whole', () => {
  expect(listKinds({ omitKindExpressions: ['replica.*', 'service|pod', 'deploy'] })).toEqual([
    'configMap',
    'deployment',
  ]);
});
