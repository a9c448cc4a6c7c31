import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import type { Manifest } from '#providers/kubernetes/api/manifest.ts';
import { readStrategy } from '#providers/kubernetes/manifest/strategy.ts';
import {
  chooseVersion,
  findLatestVersion,
  findVersion,
  formatVersion,
  formatVersionedName,
  isVersioned,
  listExpiredVersions,
  listVersions,
  parseVersion,
} from '#providers/kubernetes/manifest/version.ts';
import { freeze } from '#test/support/engines/frozen.ts';
import { createHostile, hostileRecords } from './hostile-records.ts';

/** A ConfigMap as a user writes it. */
function make(data: JsonObject, name = 'flags'): Manifest {
  return freeze({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'shop' }, data });
}

interface LiveOptions {
  readonly name?: string;
  readonly age?: number;
  /** What it was applied from; by default nothing is recorded. */
  readonly from?: unknown;
  /** Whether a controller owns it. Default: false. */
  readonly controller?: boolean;
}

/** A version of it in the cluster. A greater age is an earlier creation. */
function live(version: string, { name = 'flags', age = 0, from, controller }: LiveOptions = {}): Manifest {
  const record = typeof from === 'string' ? from : JSON.stringify(from);
  return freeze({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: `${name}-${version}`,
      creationTimestamp: new Date(Date.UTC(2026, 0, 31) - age * 1000).toISOString().replace('.000', ''),
      ownerReferences: controller === undefined ? [] : [{ kind: 'App', name: 'web', controller }],
      annotations: {
        'artifact.spinnaker.io/type': 'kubernetes/configMap',
        'artifact.spinnaker.io/name': name,
        'artifact.spinnaker.io/location': 'shop',
        'artifact.spinnaker.io/version': version,
        ...(record === undefined ? {} : { 'kubectl.kubernetes.io/last-applied-configuration': record }),
      },
    },
  }) as Manifest;
}

const names = (objects: readonly Manifest[]) => objects.map((object) => (object.metadata as JsonObject).name);

describe('a version', () => {
  test.each([
    [0, 'v000'],
    [7, 'v007'],
    [999, 'v999'],
    [1000, 'v1000'],
    [12345, 'v12345'],
  ])('%i is written %s', (version, text) => {
    expect(formatVersion(version)).toBe(text);
    expect(parseVersion(text)).toBe(version);
  });

  test.each(['', 'v', '003', 'V003', 'v-1', 'v+1', 'v1.5', 'vx', ' v003', 'v99999999999'])(
    'is not %j',
    (text) => {
      expect(parseVersion(text)).toBeUndefined();
    },
  );

  test('survives being written and read', () => {
    fc.assert(
      fc.property(fc.nat({ max: 999_999_999 }), (version) => {
        expect(parseVersion(formatVersion(version))).toBe(version);
        expect(formatVersionedName('a', version)).toBe(`a-${formatVersion(version)}`);
      }),
    );
    expect(formatVersionedName('a', undefined)).toBe('a');
  });
});

describe('findVersion', () => {
  const of = { kind: 'configMap', name: 'flags', number: 7 };
  const honest = createHostile({ what: 'nothing hostile' }, of, make({}));

  test('reads what a deploy recorded, wherever the object is', () => {
    expect(findVersion(honest)).toEqual({ name: 'flags', number: 7, isControlled: false });
    expect(findVersion(live('v1000'))).toEqual({ name: 'flags', number: 1000, isControlled: false });
    expect(findVersion(live('v000', { controller: false }))).toMatchObject({ isControlled: false });
    expect(findVersion(live('v000', { controller: true }))).toMatchObject({ isControlled: true });
  });

  test('reads what old releases of Spinnaker wrote, which stored texts as JSON', () => {
    const quoted = { type: '"kubernetes/configMap"', name: '"flags"', version: '"v007"' };
    const object = createHostile({ what: 'quoted', record: () => quoted }, of, make({}));
    expect(findVersion(object)).toMatchObject({ name: 'flags', number: 7 });
  });

  test.each(hostileRecords)('finds none for $what', (row) => {
    expect(findVersion(createHostile(row, of, make({})))).toBeUndefined();
  });
});

describe('chooseVersion', () => {
  const manifest = make({ a: '1' });

  test('starts at 0', () => {
    expect(chooseVersion(manifest, [])).toBe(0);
  });

  test('goes on from the highest, whatever the order and the gaps', () => {
    expect(chooseVersion(manifest, [live('v007'), live('v009'), live('v008')])).toBe(10);
    expect(chooseVersion(manifest, [live('v999')])).toBe(1000);
    expect(chooseVersion(manifest, [live('v1000'), live('v999')])).toBe(1001);
  });

  test('goes on from the lowest that is free after the highest that there is', () => {
    expect(chooseVersion(manifest, [live('v999999999'), live('v000'), live('v001')])).toBe(2);
    expect(chooseVersion(manifest, [live('v999999998')])).toBe(999_999_999);
  });

  test('counts what a controller owns, and never takes it for the same', () => {
    const owned = live('v006', { controller: true, from: manifest });
    expect(chooseVersion(manifest, [owned, live('v001')])).toBe(7);
    expect(chooseVersion(manifest, [owned, live('v001', { from: manifest })])).toBe(1);
  });

  test('ignores what has no version, another name, or was not deployed by Spinnaker', () => {
    const { annotations: _annotations, ...metadata } = live('v050').metadata as JsonObject;
    const foreign: Manifest = { ...live('v050'), metadata };
    const others = [live(''), live('latest'), live('v070', { name: 'other' }), foreign];
    expect(chooseVersion(manifest, others)).toBe(0);
  });

  test('reuses the version applied from the same content', () => {
    const prior = [
      live('v000', { from: make({ a: '0' }) }),
      live('v001', { from: make({ a: '1' }) }),
      live('v002'),
    ];
    expect(chooseVersion(manifest, prior)).toBe(1);
  });

  test('reuses the oldest of several', () => {
    const prior = [live('v005', { age: 1, from: manifest }), live('v002', { age: 9, from: manifest })];
    expect(chooseVersion(manifest, prior)).toBe(2);
  });

  test('compares content without metadata, order of keys and nulls', () => {
    const from = {
      metadata: { name: 'flags-v003', labels: { x: 'y' } },
      data: { a: '1' },
      kind: 'ConfigMap',
      apiVersion: 'v1',
    };
    expect(chooseVersion(manifest, [live('v003', { from })])).toBe(3);
    const withNull = freeze({ ...manifest, immutable: null, data: { a: '1', b: null } }) as Manifest;
    expect(chooseVersion(withNull, [live('v003', { from })])).toBe(3);
  });

  test.each([
    ['another value', { ...manifest, data: { a: '2' } }],
    ['another type', { ...manifest, data: { a: 1 } }],
    ['a key more', { ...manifest, data: { a: '1', b: '2' } }],
    ['a key less', { ...manifest, data: {} }],
    ['another kind', { ...manifest, kind: 'Secret' }],
    ['no JSON', '{broken'],
    ['no object', '[]'],
  ])('makes a new version for %s', (_name, from) => {
    expect(chooseVersion(manifest, [live('v003', { from })])).toBe(4);
  });

  test('does not reuse what has no version', () => {
    expect(chooseVersion(manifest, [live('', { from: manifest }), live('v001')])).toBe(2);
    const later = [live('', { age: 9, from: manifest }), live('v001', { from: manifest }), live('v002')];
    expect(chooseVersion(manifest, later)).toBe(1);
  });

  test('never reuses a version of other content, and never takes one that is taken', () => {
    const contents = fc.constantFrom('0', '1', '2');
    const prior = fc.uniqueArray(fc.tuple(fc.nat({ max: 1200 }), contents), {
      selector: ([version]) => version,
    });
    fc.assert(
      fc.property(prior, contents, (entries, a) => {
        const objects = entries.map(([version, old]) =>
          live(formatVersion(version), { from: make({ a: old }) }),
        );
        const chosen = chooseVersion(make({ a }), objects);
        const taken = entries.find(([version]) => version === chosen);
        if (taken === undefined) expect(entries.every(([version]) => version < chosen)).toBe(true);
        else expect(taken[1]).toBe(a);
      }),
    );
  });
});

describe('isVersioned', () => {
  const annotated = (value: string) => ({
    metadata: { name: 'a', annotations: { 'strategy.spinnaker.io/versioned': value } },
  });
  const plain = { metadata: { name: 'a' } };

  test.for<readonly [Manifest, boolean | undefined, boolean, boolean]>([
    [annotated('true'), false, false, true],
    [annotated('false'), true, true, false],
    [plain, true, false, true],
    [plain, false, true, false],
    [plain, undefined, true, true],
    [plain, undefined, false, false],
  ])('of %j, requested %j, by default %j: %s', ([manifest, requested, kindDefault, expected]) => {
    expect(isVersioned(readStrategy(manifest), requested, kindDefault)).toBe(expected);
  });

  test('is never so for a name that the server makes up', () => {
    const manifest = { metadata: { ...annotated('true').metadata, name: undefined, generateName: 'a-' } };
    expect(isVersioned(readStrategy(manifest as unknown as Manifest), true, true)).toBe(false);
  });
});

describe('listing versions', () => {
  const prior = [
    live('v002', { age: 1 }),
    live('v000', { age: 3 }),
    live('v001', { age: 2 }),
    live('v009', { name: 'other', age: 9 }),
  ];

  test('goes from the oldest to the newest of one name', () => {
    expect(names(listVersions(prior, 'flags'))).toEqual(['flags-v000', 'flags-v001', 'flags-v002']);
    expect(listVersions(prior, '')).toEqual([]);
  });

  test.each([
    [0, ['flags-v000', 'flags-v001', 'flags-v002']],
    [1, ['flags-v000', 'flags-v001']],
    [2, ['flags-v000']],
    [3, []],
    [9, []],
    [-1, []],
  ])('keeps the %i newest', (max, expired) => {
    expect(names(listExpiredVersions(prior, { name: 'flags' }, max))).toEqual(expired);
  });

  test('leaves out what a controller owns', () => {
    const owned = live('v003', { age: 9, controller: true });
    expect(names(listVersions([...prior, owned], 'flags'))).not.toContain('flags-v003');
    expect(names(listExpiredVersions([...prior, owned], { name: 'flags' }, 2))).toEqual(['flags-v000']);
    expect(findLatestVersion([...prior, owned], 'flags')).toBe(2);
    expect(findLatestVersion([owned], 'flags')).toBeUndefined();
  });

  test('of one second goes by their numbers', () => {
    const objects = [live('v1000'), live('v999'), live('v998')];
    expect(names(listVersions(objects, 'flags'))).toEqual(['flags-v998', 'flags-v999', 'flags-v1000']);
  });

  test('expires nothing that belongs to no name', () => {
    expect(
      listExpiredVersions([{ metadata: { annotations: { 'artifact.spinnaker.io/type': 'x' } } }], {}, 0),
    ).toEqual([]);
  });
});
