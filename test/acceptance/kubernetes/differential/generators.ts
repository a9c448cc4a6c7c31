import fc, { type Arbitrary } from 'fast-check';
import type { JsonObject, JsonValue } from '#core/json.ts';

export function pick<Value>(...values: readonly Value[]): Arbitrary<Value> {
  return fc.constantFrom(...values);
}

/** An object with any of some members. */
export function maybe(members: Record<string, Arbitrary<JsonValue>>): Arbitrary<JsonObject> {
  return fc.record(members, { requiredKeys: [] }) as Arbitrary<JsonObject>;
}

/** Any of some values, in any order. */
export function shuffleSome<Value>(...values: readonly Value[]): Arbitrary<Value[]> {
  return fc.shuffledSubarray([...values]);
}

/** Any of some keys, in any order, each with a value. */
export function shuffle<Value>(
  keys: readonly string[],
  values: Arbitrary<Value>,
): Arbitrary<[string, Value][]> {
  return fc
    .shuffledSubarray([...keys])
    .chain((chosen) =>
      fc.tuple(...chosen.map((key) => values.map((value): [string, Value] => [key, value]))),
    );
}

export const texts: Arbitrary<string> = fc.constantFrom('1', '2', 'x-y');
