import { describe, expect, it } from 'vitest';
import type { JsonValue } from '#core/json.ts';
import { readFixture } from '#test/support/run/fixture.ts';
import { type MergeName, merges } from '#upstream/merges.ts';

const owns = (account: string) => account === 'k8s' || account === 'broken';
const leaves = (account: string) => account === 'kept';

interface MergeCase {
  readonly merge: MergeName;
  /** Undefined where we have no answer. */
  readonly ours?: JsonValue;
  readonly theirs: JsonValue;
  readonly merged: JsonValue;
}

const cases = readFixture<readonly MergeCase[]>('upstream/merges.yaml');

describe('a merged answer', () => {
  it.each(cases)('$merge: takes accounts of ours from here, and all others from there', (row) => {
    const { merge, ours, theirs, merged } = row;
    expect(merges[merge]({ ours, theirs, owns, leaves })).toEqual(merged);
  });

  it.each<[MergeName, JsonValue, JsonValue]>([
    ['accounts', [{ name: 'k8s' }, { name: 'kept' }], [{ name: 'k8s' }]],
    ['agents', [{ account: 'kept' }], [{ account: 'kept' }]],
    ['list', [{ account: 'k8s' }, { account: 'kept' }, {}], [{ account: 'k8s' }, {}]],
    ['accountMap', { k8s: 1, kept: 2 }, { k8s: 1 }],
    ['application', { clusters: { k8s: 1, kept: 2 } }, { attributes: {}, clusters: { k8s: 1 } }],
    [
      'search',
      [{ totalMatches: 2, results: [{ account: 'kept' }, { account: 'k8s' }] }],
      [{ totalMatches: 1, results: [{ account: 'k8s' }] }],
    ],
  ])('%s: takes nothing from here of an account that is left upstream', (merge, ours, merged) => {
    expect(merges[merge]({ ours, theirs: merge === 'application' ? {} : [], owns, leaves })).toEqual(merged);
  });

  it.each(Object.keys(merges) as MergeName[])('%s: survives an answer of another shape', (merge) => {
    for (const theirs of [null, 'text', 3, [null, 'text', [3]], { k8s: null, ec2: 3 }]) {
      expect(() => JSON.stringify(merges[merge]({ ours: undefined, theirs, owns, leaves }))).not.toThrow();
    }
  });
});
