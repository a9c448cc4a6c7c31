import { describe, expect, test } from 'vitest';
import { InvalidInputError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import { readAnnotations } from '#providers/kubernetes/manifest/annotations.ts';
import {
  checkVersionHistory,
  readStrategy,
  requireRecreate,
  setReplicas,
} from '#providers/kubernetes/manifest/strategy.ts';
import { freeze } from '#test/support/engines/frozen.ts';

/** A ReplicaSet with `strategy.spinnaker.io/…` annotations. */
function make(strategy: JsonObject, metadata: JsonObject = { name: 'web' }) {
  const entries = Object.entries(strategy).map(([key, value]) => [`strategy.spinnaker.io/${key}`, value]);
  const annotations = Object.fromEntries(entries) as JsonObject;
  return freeze({ apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata: { ...metadata, annotations } });
}

test('a manifest that says nothing is applied, by the defaults', () => {
  expect(readStrategy({ metadata: { name: 'web' } })).toEqual({
    method: 'apply',
    forceConflicts: false,
    versioned: undefined,
    maxVersionHistory: undefined,
    useSourceCapacity: false,
  });
});

test.each([
  [{}, 'apply'],
  [{ recreate: 'true' }, 'recreate'],
  [{ recreate: 'TRUE' }, 'recreate'],
  [{ recreate: true }, 'recreate'],
  [{ recreate: 'false' }, 'apply'],
  [{ replace: 'true' }, 'replace'],
  [{ 'server-side-apply': 'true' }, 'serverSideApply'],
  [{ 'server-side-apply': 'True' }, 'serverSideApply'],
  [{ 'server-side-apply': 'force-conflicts' }, 'serverSideApply'],
  [{ 'server-side-apply': 'false' }, 'apply'],
  [{ 'server-side-apply': 'force' }, 'apply'],
  [{ 'server-side-apply': '' }, 'apply'],
  [{ recreate: 'true', replace: 'true', 'server-side-apply': 'true' }, 'recreate'],
  [{ recreate: 'no', replace: 'true', 'server-side-apply': 'true' }, 'replace'],
])('%j asks for %s', (strategy, method) => {
  expect(readStrategy(make(strategy)).method).toBe(method);
  expect(readStrategy(make(strategy, { generateName: 'web-' })).method).toBe('create');
  expect(readStrategy(make(strategy, { name: 'web', generateName: 'web-' })).method).toBe(method);
});

test.each([
  ['true', false],
  ['force-conflicts', true],
  ['false', false],
])('server-side-apply: %s forces conflicts: %s', (value, forceConflicts) => {
  expect(readStrategy(make({ 'server-side-apply': value })).forceConflicts).toBe(forceConflicts);
});

test.each([
  [{ versioned: 'true' }, { versioned: true }],
  [{ versioned: 'false' }, { versioned: false }],
  [{ versioned: 'maybe' }, { versioned: false }],
  [{ 'max-version-history': '3' }, { maxVersionHistory: 3 }],
  [{ 'max-version-history': 'many' }, { maxVersionHistory: undefined }],
  [{ 'use-source-capacity': 'true' }, { useSourceCapacity: true }],
  [{ 'use-source-capacity': 'no' }, { useSourceCapacity: false }],
])('%j is read as %j', (strategy, expected) => {
  expect(readStrategy(make(strategy))).toMatchObject(expected);
});

describe('checkVersionHistory', () => {
  test.each(['RED_BLACK', 'BLUE_GREEN'])('refuses a history below 2 for %s', (strategy) => {
    for (const history of ['1', '0', '-1']) {
      const manifest = make({ 'max-version-history': history });
      expect(() => checkVersionHistory(manifest, strategy)).toThrow(InvalidInputError);
      expect(() => checkVersionHistory(manifest, strategy)).toThrow(
        new RegExp(`^replicaSet web: annotation .*max-version-history is ${history}.*${strategy}`),
      );
    }
  });

  test.each([
    ['RED_BLACK', '2'],
    ['BLUE_GREEN', 'many'],
    ['HIGHLANDER', '1'],
    ['NONE', '1'],
    ['red_black', '1'],
    [undefined, '1'],
  ])('accepts for %s a history of %s', (strategy, history) => {
    expect(() => checkVersionHistory(make({ 'max-version-history': history }), strategy)).not.toThrow();
  });

  test('accepts an unlimited history', () => {
    expect(() => checkVersionHistory(make({}), 'RED_BLACK')).not.toThrow();
  });
});

test('requireRecreate puts recreate in place of every other method', () => {
  const manifest = make({
    replace: 'true',
    'server-side-apply': 'true',
    recreate: 'false',
    versioned: 'false',
  });
  const changed = requireRecreate(manifest);
  expect(readAnnotations(changed)).toEqual({
    'strategy.spinnaker.io/recreate': 'true',
    'strategy.spinnaker.io/versioned': 'false',
  });
  expect(readStrategy(requireRecreate({})).method).toBe('recreate');
});

test('setReplicas sets nothing else', () => {
  const manifest = freeze({ kind: 'Deployment', spec: { replicas: 1, paused: true } });
  expect(setReplicas(manifest, 5)).toEqual({ kind: 'Deployment', spec: { replicas: 5, paused: true } });
  expect(setReplicas({ kind: 'Deployment' }, 0)).toEqual({ kind: 'Deployment', spec: { replicas: 0 } });
});
