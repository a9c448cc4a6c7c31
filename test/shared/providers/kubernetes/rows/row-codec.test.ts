import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RowEntry } from '#caching/store/packed-row.ts';
import { toRevision } from '#caching/store/revision.ts';
import { createKindRegistry } from '#providers/kubernetes/kinds/index.ts';
import type { ObjectFacts } from '#providers/kubernetes/rows/facts.ts';
import { factsVersion } from '#providers/kubernetes/rows/facts-codec.ts';
import { decodeRow, encodeRow } from '#providers/kubernetes/rows/row-codec.ts';
import { fromFacts, listInstances, selfKey } from '#providers/kubernetes/rows/row-entries.ts';
import { toFacts } from '#providers/kubernetes/rows/to-facts.ts';
import { createPod, createReplicaSet } from '../views/sample-manifests.ts';
import { anyFacts, anyServerGroup } from './arbitrary-facts.ts';
import { createEntries, storeInRow } from './assembled-facts.ts';

const registry = createKindRegistry();

/** Entries of any keys and revisions, some removed, with or without the row's own object. */
const anyEntries: fc.Arbitrary<Map<string, RowEntry>> = anyServerGroup.chain((serverGroup) => {
  const revision = fc.record({ epoch: fc.constantFrom(1, 2), number: fc.nat() });
  const change = fc.record({
    revision,
    isGone: fc.boolean(),
    isLater: fc.boolean(),
    key: fc.constantFrom('', 'odd'),
  });
  const entries = [...createEntries(serverGroup.instances, serverGroup.facts)];
  return fc.array(change, { minLength: entries.length, maxLength: entries.length }).map((changes) => {
    const changed = entries.map(([key, entry], index): [string, RowEntry] => {
      const {
        revision,
        isGone,
        isLater,
        key: prefix,
      } = changes[index] ?? { revision: { epoch: 1, number: 0 } };
      const other = toRevision(revision.epoch, String(revision.number));
      if (isGone) return [key, { revision: other, goneAtMs: revision.number }];
      return [prefix ? `${prefix} ${key}` : key, isLater ? { ...entry, revision: other } : entry];
    });
    return new Map(changed);
  });
});

function createPods(count: number, annotations: { [key: string]: string } = {}): ObjectFacts[] {
  return Array.from({ length: count }, (_, index) => {
    const labels = { aisle: index % 2 === 0 ? 'a' : 'b', 'topology.kubernetes.io/zone': 'zone-a' };
    return toFacts(createPod(`web-x7k2${index}`, { annotations, labels }), registry);
  });
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
    const entries = createEntries(createPods(3));
    const back = decodeRow(encodeRow(entries));
    expect([...back].map((entry) => JSON.stringify(entry))).toEqual(
      [...entries].map((entry) => JSON.stringify(entry)),
    );
  });

  test('of another kind of object come back, too', () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        const entries = new Map([[selfKey, { revision: toRevision(3, '7'), value: fromFacts(facts) }]]);
        expect(decodeRow(encodeRow(entries))).toEqual(entries);
      }),
    );
  });

  test('of another version count as absent', () => {
    const text = encodeRow(createEntries(createPods(1)));
    expect(decodeRow(text.replace(`"v":${factsVersion}`, `"v":${factsVersion + 1}`)).size).toBe(0);
    expect(decodeRow(encodeRow(new Map())).size).toBe(0);
  });
});

describe('pods of one owner', () => {
  const serverGroup = toFacts(createReplicaSet('web'), registry);

  test('are those that name its uid', () => {
    const [first, ...others] = createPods(3);
    if (first === undefined) throw new Error('expected pods');
    const owners = first.owners.map((owner) => ({ ...owner, uid: 'of a predecessor' }));
    const entries = createEntries([{ ...first, owners }, ...others]);
    const [owner] = others[0]?.owners ?? [];
    expect(listInstances(entries, owner?.uid ?? '')).toEqual(others);
    expect(listInstances(entries, 'of a predecessor')).toHaveLength(1);
  });

  test('share the labels that they have in common', () => {
    const pods = createPods(4).toSorted((one, other) =>
      (one.labels['aisle'] ?? '').localeCompare(other.labels['aisle'] ?? ''),
    );
    expect(new Set(storeInRow(pods).map(({ labels }) => labels)).size).toBe(2);
  });

  test.each([
    { title: 'a Deployment', annotations: {} },
    { title: 'a version', annotations: { 'moniker.spinnaker.io/sequence': '7' } },
  ])('of $title cost 130 bytes at most for one with the labels of the one before', ({ annotations }) => {
    const pods = createPods(20, annotations).filter(({ labels }) => labels['aisle'] === 'a');
    const sizes = [8, 9].map((count) => encodeRow(createEntries(pods.slice(0, count))).length);
    expect((sizes[1] ?? 0) - (sizes[0] ?? 0)).toBeLessThanOrEqual(130);
  });

  test('that stood in the row of their server group count as absent, and that stays', () => {
    const text = encodeRow(createEntries([], serverGroup));
    const pods = [{ n: '-x7k20', u: 'uid', r: '5', c: ['web'] }];
    const former = { ...JSON.parse(text), i: pods, o: pods };
    expect([...decodeRow(JSON.stringify(former)).keys()]).toEqual([selfKey]);
  });
});
