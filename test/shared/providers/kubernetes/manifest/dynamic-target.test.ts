import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InvalidInputError } from '#core/errors.ts';
import type { Manifest } from '#providers/kubernetes/api/manifest.ts';
import {
  parseTargetCriteria,
  pickTarget,
  targetCriteria,
} from '#providers/kubernetes/manifest/dynamic-target.ts';
import { readName } from '#providers/kubernetes/manifest/identity.ts';

/** An object created on a day of January with some replicas. */
function make(name: string, day: number, replicas?: number): Manifest {
  const creationTimestamp = `2026-01-${String(day).padStart(2, '0')}T00:00:00Z`;
  return { metadata: { name, creationTimestamp }, spec: replicas === undefined ? {} : { replicas } };
}

const members = [make('b', 2, 5), make('d', 4), make('a', 1, 0), make('c', 3, 1)];

describe('pickTarget', () => {
  test.each([
    ['oldest', 'a'],
    ['newest', 'd'],
    ['second_newest', 'c'],
    ['largest', 'b'],
    ['smallest', 'd'],
  ] as const)('finds the %s', (criteria, name) => {
    expect(readName(pickTarget(members, criteria) ?? {})).toBe(name);
  });

  test('finds nothing where there are too few', () => {
    for (const criteria of targetCriteria) expect(pickTarget([], criteria)).toBeUndefined();
    expect(pickTarget([make('a', 1)], 'second_newest')).toBeUndefined();
    expect(pickTarget([make('a', 1)], 'newest')).toBeDefined();
  });

  test('finds the same whatever the order of the list, ages and sizes being distinct', () => {
    fc.assert(
      fc.property(
        fc.shuffledSubarray(members, { minLength: 4 }),
        fc.constantFrom(...targetCriteria),
        (list, criteria) => {
          const before = [...list];
          expect(pickTarget(list, criteria)).toBe(pickTarget(members, criteria));
          expect(list).toEqual(before);
        },
      ),
    );
  });
});

describe('parseTargetCriteria', () => {
  test.each(targetCriteria)('knows %s', (criteria) => {
    expect(parseTargetCriteria(criteria)).toBe(criteria);
  });

  test.each(['', 'Newest', 'random'])('refuses %j', (text) => {
    expect(() => parseTargetCriteria(text)).toThrow(InvalidInputError);
    expect(() => parseTargetCriteria(text)).toThrow(/oldest, newest, second_newest, largest, smallest/);
  });
});
