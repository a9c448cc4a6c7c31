import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  compareVersions,
  constraintLengthMax,
  findGreatestVersion,
  parseVersion,
  parseVersionConstraint,
} from '#providers/artifacts/maven/maven-versions.ts';

function compare(one: string, other: string): number {
  return Math.sign(compareVersions(parseVersion(one), parseVersion(other))) + 0;
}

/** The greatest of the versions within a range, or equal to one. */
function select(wanted: string, versions: readonly string[]): string | undefined {
  const constraint = parseVersionConstraint(wanted);
  if (constraint === undefined) throw new Error(`${wanted} is no constraint`);
  return findGreatestVersion(versions, constraint);
}

describe("the order of versions is that of Maven's resolver:", () => {
  // Facts of GenericVersion in maven-resolver-util: what it makes of each pair.
  test.each([
    ['9', '10'],
    ['1.9', '1.10'],
    ['1.0.0.9', '1.0.0.10'],
    ['1.0.20261122.235959.9', '1.0.20261123.000000.1'],
    ['1.99999999999999999998', '1.99999999999999999999'],
    ['1.999999999', '1.1000000000'],
    ['1-alpha', '1-beta'],
    ['1-beta', '1-milestone'],
    ['1-milestone', '1-rc'],
    ['1-rc', '1-SNAPSHOT'],
    ['1-SNAPSHOT', '1'],
    ['1', '1-sp'],
    ['1-sp', '1-jre'],
    ['1-android', '1-jre'],
    ['1-jre', '1-1'],
    ['1-sp', '1.1'],
    ['1-ga', '1-1'],
    ['1.ga.1', '1.0.1'],
    ['1.0.a1', '1.0.b1'],
    ['1.0-m2', '1.0'],
    ['1.0', '1.0a'],
    ['1.0', '1.0b.1'],
    ['1.alpha2', '1.alpha10'],
    ['2.0-rc-1-SNAPSHOT', '2.0-rc-1'],
    ['A.rc.1', 'A.ga.1'],
    ['1.0.final-foo', '1-foo'],
    ['1.2.min', '1.2-alpha'],
    ['1.2.9999', '1.2.max'],
    ['1.2.max', '1.3-alpha'],
  ])('%s < %s', (lesser, greater) => {
    expect([compare(lesser, greater), compare(greater, lesser)]).toEqual([-1, 1]);
  });

  test.each([
    ['1', '1.0.0'],
    ['1', '1-0_0'],
    ['1', '1...'],
    ['1.2', '1.002'],
    ['1.0.1', '1..1'],
    ['0.1', '.1'],
    ['0', ''],
    ['1', '1-GA'],
    ['1', '1.0.Final'],
    ['1', '1-release'],
    ['1', '1.ga.0.ga'],
    ['1-cr', '1.RC'],
    ['1-a1', '1-alpha-1'],
    ['1-m1', '1.Milestone.1'],
    ['1.0-alpha', '1.0.0.alpha'],
    ['1.x.0-alpha', '1.x.0.0-alpha'],
    ['1.Foo', '1-foo'],
  ])('%s = %s', (one, other) => {
    expect([compare(one, other), compare(other, one)]).toEqual([0, 0]);
  });

  test('whatever the versions are, it is the same from both sides, and zeros at the end change nothing', () => {
    const part = fc.constantFrom('0', '1', '10', '007', 'a', 'rc', 'ga', 'sp', 'x', 'SNAPSHOT', '');
    const version = fc.tuple(fc.nat(9), fc.array(fc.tuple(fc.constantFrom('.', '-', ''), part)));
    const text = version.map(([first, rest]) => `${first}${rest.flat().join('')}`);
    fc.assert(
      fc.property(text, text, (one, other) => {
        expect(compare(one, other) + compare(other, one)).toBe(0);
        expect(compare(one, `${one}.0`)).toBe(0);
      }),
    );
  });
});

const versions = ['0.9', '1.0', '1.0.1', '1.2-rc1', '1.10', '1.9', '2.0-rc1', '2.0', '3.0-SNAPSHOT'];

describe('what is asked for', () => {
  test.each([
    ['1.0', '1.0'],
    ['1', '1.0'],
    ['1.0.0.Final', '1.0'],
    ['1.3', undefined],
    ['[1.0]', '1.0'],
    ['[1.0,2.0)', '2.0-rc1'],
    ['[1.0,2.0]', '2.0'],
    ['[1.0,2.0-alpha)', '1.10'],
    ['(,1.5]', '1.2-rc1'],
    ['(,0.9)', undefined],
    ['(0.9,1.0]', '1.0'],
    ['(1.0,1.0.1)', undefined],
    ['[1.5,)', '3.0-SNAPSHOT'],
    ['[1.0.*]', '1.0.1'],
    ['[1.*]', '1.10'],
    ['[0,1),[1.9,1.9]', '1.9'],
    ['(,)', '3.0-SNAPSHOT'],
  ])('%s is %s', (wanted, version) => {
    expect(select(wanted, versions)).toBe(version);
  });

  test.each([
    ...['[1.0', '[1,2', '(1.0)', '[1.0)', '[1,2,3]', '[2,1]', '[1,2]x', '[1,2],', '[1,2](3,4)x'],
    `[1,${'2'.repeat(constraintLengthMax)}]`,
  ])('%s is no range', (text) => {
    expect(parseVersionConstraint(text)).toBeUndefined();
  });

  test('the first of equal versions counts', () => {
    expect(select('[1,2]', ['1', '2.0', '2'])).toBe('2.0');
  });
});
