import { describe, expect, it } from 'vitest';
import { InvalidInputError, ViolationList } from '#core/errors.ts';
import type { JsonObject, JsonValue } from '#core/json.ts';
import { checkRequestSize } from '#core/request-size.ts';

function repeat(value: JsonValue, length: number): JsonValue[] {
  return Array.from({ length }, () => value);
}

const configMap: JsonObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };

describe('what one request may hold', () => {
  it.each<[string, JsonObject[]]>([
    ['5,000 manifests', [{ manifests: repeat(configMap, 5_000) }]],
    ['lists of 5,000 items', [{ manifests: repeat({ kind: 'List', items: repeat(configMap, 50) }, 100) }]],
    ['5,000 nulls more', [{ manifests: [...repeat(configMap, 5_000), ...repeat(null, 5_000)] }]],
    ['5,000 artifacts', [{ requiredArtifacts: repeat({}, 2_500), optionalArtifacts: repeat({}, 2_500) }]],
    ['manifests that are no list', [{ manifests: 'many' }]],
  ])('is %s', (_, descriptions) => {
    expect(() => checkRequestSize(descriptions)).not.toThrow();
  });

  const [half, sixty] = [repeat({}, 3_000), repeat({}, 60)];
  it.each<[string, JsonObject[], string]>([
    ['5,001 manifests', [{ manifests: repeat({}, 5_001) }], '5001 manifests: at most 5000'],
    ['one more beside them', [{ manifests: repeat({}, 5_000), manifest: {} }], '5001 manifests'],
    ['those of two operations', [{ manifests: half }, { manifests: half }], '6000 manifests'],
    ['items of one list', [{ manifest: { kind: 'LIST', items: repeat({}, 6_000) } }], '6000 manifests'],
    ['items of lists', [{ manifests: repeat({ kind: 'List', items: sixty }, 100) }], '6000 manifests'],
    ['artifacts', [{ requiredArtifacts: repeat({}, 5_001) }], '5001 required and optional artifacts'],
  ])('is not %s', (_, descriptions, message) => {
    expect(() => checkRequestSize(descriptions)).toThrow(message);
  });
});

describe('violations', () => {
  it('of several errors are told up to 100, and the others counted', () => {
    const list = new ViolationList();
    list.add(new InvalidInputError(Array.from({ length: 250 }, (_, index) => `first ${index}`)));
    list.add(new InvalidInputError(['second']));
    const error = catchError(() => list.check());
    expect(error.errors).toHaveLength(101);
    expect(error.errors.at(-2)).toBe('first 99');
    expect(error.errors.at(-1)).toBe('and 151 more');
  });

  it('are none as long as nothing was added', () => {
    expect(() => new ViolationList().check()).not.toThrow();
  });
});

function catchError(run: () => void): InvalidInputError {
  try {
    run();
  } catch (error) {
    if (error instanceof InvalidInputError) return error;
  }
  throw new Error('expected an InvalidInputError');
}
