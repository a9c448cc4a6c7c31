import type { V1Deployment, V1Pod } from '@kubernetes/client-node';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { asJsonArray, getPath, type JsonObject, type JsonValue } from '#core/json.ts';
import {
  asUnchecked,
  findNumber,
  readList,
  type UncheckedObject,
} from '#providers/kubernetes/api/unchecked.ts';

/** JSON in which the members that are read stand for anything, at each depth. */
const { hostile } = fc.letrec<{ hostile: JsonValue }>((tie) => ({
  hostile: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom<JsonValue>(null, true, 0, 7, '', 'text', [], ['text', null]),
    fc.array(tie('hostile'), { maxLength: 3 }),
    fc.dictionary(
      fc.constantFrom('spec', 'status', 'template', 'containers', 'image', 'replicas', '__proto__'),
      tie('hostile'),
    ) as fc.Arbitrary<JsonObject>,
  ),
}));
const object = fc.dictionary(fc.constantFrom('spec', 'status'), hostile) as fc.Arbitrary<JsonObject>;

describe('an unchecked object', () => {
  it('reads whatever stands there as a walk by own members does, and never fails', () => {
    fc.assert(
      fc.property(object, (value) => {
        const { spec } = asUnchecked<V1Deployment>(value);

        expect(spec?.replicas).toEqual(getPath(value, 'spec', 'replicas'));
        expect(readList(spec?.template?.spec?.containers).map((each) => each?.image)).toEqual(
          asJsonArray(getPath(value, 'spec', 'template', 'spec', 'containers')).map((each) =>
            getPath(each, 'image'),
          ),
        );
      }),
      { numRuns: 1_000 },
    );
  });

  it('has the names that Kubernetes has, and no others', () => {
    type Name = keyof UncheckedObject<V1Pod>;
    const names: readonly Name[] = ['apiVersion', 'kind', 'metadata', 'spec', 'status'];
    const wrong: 'stauts' extends keyof UncheckedObject<V1Pod> ? true : false = false;

    expect([names.length, wrong]).toEqual([5, false]);
  });

  it('holds numbers where they are numbers', () => {
    expect([3, 0, '3', null, undefined, 2n ** 60n, [3]].map(findNumber)).toEqual([
      3,
      0,
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });
});
