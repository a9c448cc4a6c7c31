import { describe, expect, test } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import { bindDocuments, expandKeys, isActiveDocument } from '#settings/spring-config.ts';

describe('profiles', () => {
  const only = (condition: JsonObject, ...profiles: string[]) =>
    isActiveDocument(expandKeys(condition), profiles);

  test('a document for other profiles is left out', () => {
    const documents = [
      { a: 1 },
      { a: 2, spring: { config: { activate: { 'on-profile': 'local' } } } },
      { a: 3, 'spring.profiles': 'prod' },
    ];
    const bound = (...profiles: string[]) => bindDocuments({ documents, profiles, environment: {} }).a;
    expect([bound(), bound('local'), bound('prod'), bound('local', 'prod')]).toEqual([1, 2, 3, 3]);
  });

  test('lists and commas mean any of them', () => {
    expect(only({ 'spring.profiles': 'a, b' }, 'b')).toBe(true);
    expect(only({ spring: { config: { activate: { onProfile: ['a', 'b'] } } } }, 'b')).toBe(true);
    expect(only({ 'spring.profiles': 'a, b' }, 'c')).toBe(false);
  });

  test('spring.profiles.active is no condition', () => {
    expect(only({ spring: { profiles: { active: 'local' } } })).toBe(true);
  });

  test.each([
    ['!prod', ['local'], true],
    ['!prod', ['prod'], false],
    ['prod & eu', ['prod', 'eu'], true],
    ['prod & eu', ['prod'], false],
    ['prod | eu', ['eu'], true],
    ['prod & (eu | us)', ['prod', 'us'], true],
    ['!(eu | us)', ['us'], false],
    ['! eu & ! us', ['prod'], true],
  ])('%s with %j is %j', (expression, active, expected) => {
    expect(only({ 'spring.config.activate.on-profile': expression }, ...active)).toBe(expected);
  });

  test.each(['prod &', '(prod', 'prod eu', 'a & b | c', '', ')'])('refuses %j', (expression) => {
    expect(() => only({ 'spring.config.activate.on-profile': expression }, 'a')).toThrow(
      `profile expression '${expression}': expected names`,
    );
  });
});
