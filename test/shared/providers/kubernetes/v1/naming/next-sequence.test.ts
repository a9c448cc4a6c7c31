import { describe, expect, it, test } from 'vitest';
import { formatServerGroupName } from '#core/frigga.ts';
import { chooseNextSequence, sequencesMax } from '#providers/kubernetes/v1/naming/next-sequence.ts';

const where = { cluster: 'kub-test', namespace: 'shop' };

/** Server groups by name and the second in which they were made. */
function list(...groups: readonly (readonly [name: string, second: number])[]) {
  return groups.map(([name, second]) => ({
    name,
    creationTimestamp: `2026-01-01T00:00:${String(second).padStart(2, '0')}Z`,
  }));
}

describe('the next server group of a cluster', () => {
  test.each([
    ['none is there', list(), 0, undefined],
    ['others are there', list(['kub-v004', 1], ['kub-test-x-v005', 1], ['kub', 1]), 0, undefined],
    ['one is there', list(['kub-test-v000', 1]), 1, 'kub-test-v000'],
    ['the latest has a lower number', list(['kub-test-v007', 1], ['kub-test-v003', 2]), 4, 'kub-test-v003'],
    [
      'the next numbers are taken',
      list(['kub-test-v004', 1], ['kub-test-v005', 1], ['kub-test-v003', 2]),
      6,
      'kub-test-v003',
    ],
    ['two are of one second', list(['kub-test-v001', 1], ['kub-test-v000', 1]), 2, 'kub-test-v001'],
    ['the last number is taken', list(['kub-test-v999', 1]), 0, 'kub-test-v999'],
    ['the latest has no number', list(['kub-test', 1]), 1, 'kub-test'],
  ])('is chosen where %s', (...[, groups, sequence, ancestor]) => {
    expect(chooseNextSequence(groups, where)).toEqual({ sequence, ancestor });
    expect(chooseNextSequence(groups.toReversed(), where)).toEqual({ sequence, ancestor });
  });

  it('is none where all are taken', () => {
    const names = Array.from({ length: sequencesMax }, (_, sequence) =>
      formatServerGroupName('kub-test', sequence),
    );
    const all = list(...names.map((name) => [name, 1] as const));
    expect(() => chooseNextSequence(all, where)).toThrow(
      'All server group names for cluster kub-test in shop are taken.',
    );
    const free = all.filter(({ name }) => name !== 'kub-test-v417');
    expect(chooseNextSequence(free, where)).toEqual({ sequence: 417, ancestor: 'kub-test-v999' });
  });
});
