import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { toAcceptedObject } from '#contract/accepted.ts';
import { artifactField } from '#provider-kit/artifact.ts';
import {
  booleanField,
  enumField,
  intField,
  jsonField,
  jsonObjectField,
  listOf,
  objectField,
  stringField,
  stringListField,
  stringMapField,
} from '#settings/coerce.ts';

const fields = {
  int: intField(),
  replicas: intField({ min: 0, max: 9 }),
  boolean: booleanField(),
  string: stringField(),
  enum: enumField(['RED_BLACK', 'NONE']),
  list: stringListField(),
  map: stringMapField(),
  json: jsonField(),
  object: jsonObjectField(),
  objects: listOf(objectField({ name: stringField(), count: intField() })),
  artifact: artifactField(),
};

/** JSON of the kinds that fields tell apart; whole numbers, since of a fraction only the whole part is held to bounds. */
const scalar = fc.oneof(
  fc.constantFrom('', ' ', '3', '-3', '+3', ' 3 ', '3.5', 'True', 'TRUE', 'tRue', 'no', 'NONE', 'none'),
  fc.string(),
  fc.integer(),
  fc.integer({ min: -2, max: 11 }),
  fc.constantFrom(2 ** 31, -(2 ** 31) - 1, 1e21),
  fc.boolean(),
  fc.constant(null),
);
const json = fc.oneof(
  { weight: 3, arbitrary: scalar },
  { weight: 1, arbitrary: fc.array(scalar, { maxLength: 3 }) },
  {
    weight: 1,
    arbitrary: fc.dictionary(fc.constantFrom('name', 'count', 'type', 'metadata', 'customKind', 'x'), scalar),
  },
  {
    weight: 1,
    arbitrary: fc.array(fc.dictionary(fc.constantFrom('name', 'count'), scalar), { maxLength: 2 }),
  },
);

describe('what the document says of a field', () => {
  const ajv = new Ajv2020({ allowUnionTypes: true });

  it.each(Object.entries(fields))('%s: holds where its parser accepts, and nowhere else', (name, field) => {
    const accepts = ajv.compile(z.toJSONSchema(field, { io: 'input' }));
    fc.assert(
      fc.property(json, (value) => {
        const isAccepted = accepts(value);
        const parses = field.safeParse(value).success;
        if (parses || !isUnspeakable(name, value))
          expect({ value, isAccepted }).toEqual({ value, isAccepted: parses });
      }),
      { numRuns: 500 },
    );
  });

  it('shows an object without the null that stands for none', () => {
    expect(toAcceptedObject(objectField({ name: stringField() }))).toEqual({
      type: 'object',
      properties: { name: { type: ['string', 'number', 'boolean', 'null'] } },
    });
    expect(() => toAcceptedObject(stringField())).toThrow(TypeError);
  });

  it('refers to fields that have an id, and brings them along', () => {
    const part = objectField({ name: stringField() }).meta({ id: 'Part' });
    const { properties, $defs } = toAcceptedObject(objectField({ one: part, other: part }));
    expect(properties).toEqual({ one: { $ref: '#/$defs/Part' }, other: { $ref: '#/$defs/Part' } });
    expect($defs).toMatchObject({ Part: { anyOf: [{ type: 'object' }, { type: 'null' }] } });
  });
});

/** JSON Schema has no word for the bounds of digits in a string. */
function isUnspeakable(name: string, value: unknown): boolean {
  return (name === 'replicas' && typeof value === 'string') || /[+-]?\d{9}/.test(JSON.stringify(value));
}
