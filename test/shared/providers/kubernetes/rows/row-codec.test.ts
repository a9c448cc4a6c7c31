import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RowEntry } from '../../../../../shared/core/cache/packed-row.ts';
import { toVersion } from '../../../../../shared/core/cache/version.ts';
import { createKindRegistry } from '../../../../../shared/providers/kubernetes/kinds/index.ts';
import type { ServerGroupFacts } from '../../../../../shared/providers/kubernetes/rows/facts.ts';
import { factsVersion } from '../../../../../shared/providers/kubernetes/rows/facts-codec.ts';
import { decodeRow, encodeRow } from '../../../../../shared/providers/kubernetes/rows/row-codec.ts';
import {
  findServerGroup,
  fromFacts,
  selfKey,
} from '../../../../../shared/providers/kubernetes/rows/row-entries.ts';
import { toFacts } from '../../../../../shared/providers/kubernetes/rows/to-facts.ts';
import { createPod, createReplicaSet } from '../views/sample-manifests.ts';
import { anyFacts, anyServerGroup } from './arbitrary-facts.ts';
import { createEntries } from './assembled-facts.ts';

const registry = createKindRegistry();

/** Entries of any keys and versions, some removed, with or without the row's own object. */
const anyEntries: fc.Arbitrary<Map<string, RowEntry>> = anyServerGroup.chain((serverGroup) => {
  const version = fc.record({ epoch: fc.constantFrom(1, 2), number: fc.nat() });
  const change = fc.record({
    version,
    isGone: fc.boolean(),
    isLater: fc.boolean(),
    key: fc.constantFrom('', 'odd'),
  });
  const entries = [...createEntries(serverGroup)];
  return fc.array(change, { minLength: entries.length, maxLength: entries.length }).map((changes) => {
    const changed = entries.map(([key, entry], index): [string, RowEntry] => {
      const {
        version,
        isGone,
        isLater,
        key: prefix,
      } = changes[index] ?? { version: { epoch: 1, number: 0 } };
      const other = toVersion(version.epoch, String(version.number));
      if (isGone) return [key, { version: other, goneAtMs: version.number }];
      return [prefix ? `${prefix} ${key}` : key, isLater ? { ...entry, version: other } : entry];
    });
    return new Map(changed);
  });
});

function createServerGroup(count: number, annotations: { [key: string]: string } = {}): ServerGroupFacts {
  const instances = Array.from({ length: count }, (_, index) => {
    const labels = { aisle: index % 2 === 0 ? 'a' : 'b', 'topology.kubernetes.io/zone': 'zone-a' };
    return toFacts(createPod(`web-x7k2${index}`, { annotations, labels }), registry);
  });
  return { facts: toFacts(createReplicaSet('web', { annotations }), registry), instances };
}

describe('the entries of a row', () => {
  test('come back as they were', () => {
    fc.assert(
      fc.property(anyEntries, (entries) => {
        expect(new Map(decodeRow(encodeRow(entries)))).toEqual(entries);
      }),
    );
  });

  test('are the same text each time they come back: texts are compared', () => {
    fc.assert(
      fc.property(anyEntries, (entries) => {
        const once = decodeRow(encodeRow(entries));
        const twice = decodeRow(encodeRow(once));
        for (const [key, entry] of once) expect(JSON.stringify(twice.get(key))).toBe(JSON.stringify(entry));
      }),
    );
    const entries = createEntries(createServerGroup(3));
    const back = decodeRow(encodeRow(entries));
    expect([...back].map((entry) => JSON.stringify(entry))).toEqual(
      [...entries].map((entry) => JSON.stringify(entry)),
    );
  });

  test('of another kind of object come back, too', () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        const entries = new Map([[selfKey, { version: toVersion(3, '7'), value: fromFacts(facts) }]]);
        expect(decodeRow(encodeRow(entries))).toEqual(entries);
      }),
    );
  });

  test('of another version count as absent', () => {
    const text = encodeRow(createEntries(createServerGroup(1)));
    expect(decodeRow(text.replace(`"v":${factsVersion}`, `"v":${factsVersion + 1}`)).size).toBe(0);
    expect(decodeRow(encodeRow(new Map())).size).toBe(0);
  });
});

describe('a server group', () => {
  test('is found in its entries, with the pods it owns', () => {
    const serverGroup = createServerGroup(3);
    const [first, ...others] = serverGroup.instances;
    if (first === undefined) throw new Error('expected pods');
    const foreign = {
      ...first,
      owners: first.owners.map((owner) => ({ ...owner, uid: 'of a predecessor' })),
    };
    const entries = createEntries({ ...serverGroup, instances: [foreign, ...others] });
    expect(findServerGroup(decodeRow(encodeRow(entries)))).toEqual({ ...serverGroup, instances: others });
  });

  test('is not there before its own object is seen, nor after that is removed', () => {
    const entries = new Map<string, RowEntry>(createEntries(createServerGroup(2)));
    entries.set(selfKey, { version: toVersion(1, '9'), goneAtMs: 5 });
    expect(findServerGroup(entries)).toBeUndefined();
    entries.delete(selfKey);
    expect(findServerGroup(decodeRow(encodeRow(entries)))).toBeUndefined();
  });

  test('shares the labels that its pods have in common', () => {
    const found = findServerGroup(decodeRow(encodeRow(createEntries(createServerGroup(4)))));
    expect(new Set(found?.instances.map((instance) => instance.labels)).size).toBe(2);
  });

  test.each([
    { title: 'a Deployment', annotations: {} },
    { title: 'a version', annotations: { 'moniker.spinnaker.io/sequence': '7' } },
  ])('of $title costs 130 bytes at most for a further pod', ({ annotations }) => {
    const sizes = [8, 9].map(
      (count) => encodeRow(createEntries(createServerGroup(count, annotations))).length,
    );
    expect((sizes[1] ?? 0) - (sizes[0] ?? 0)).toBeLessThanOrEqual(130);
  });
});
