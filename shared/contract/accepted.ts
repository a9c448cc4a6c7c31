import * as z from 'zod';
import { asJsonArray, asJsonObject, isJsonObject, type JsonObject } from '#core/json.ts';

/** JSON Schema of an object. */
export interface AcceptedObject {
  readonly type: 'object';
  readonly properties?: JsonObject;
  /** Schemas that it refers to as `#/$defs/<id>`: those of fields with an `id`. */
  readonly $defs?: JsonObject;
}

/**
 * What a field that reads objects accepts, as JSON Schema: an object, and not the null that the field takes for an absent value.
 *
 * @throws TypeError for a field that reads anything else.
 */
export function toAcceptedObject(field: z.ZodType): AcceptedObject {
  const { $schema: _, ...accepted } = z.toJSONSchema(field, { io: 'input' }) as JsonObject;
  const alternatives = [accepted, ...asJsonArray(accepted['anyOf'])].filter(isJsonObject);
  const object = alternatives.find(({ type }) => type === 'object');
  if (object === undefined) throw new TypeError('The field reads no objects');
  const { $defs } = accepted;
  return {
    ...object,
    type: 'object',
    properties: asJsonObject(object['properties']) ?? {},
    ...(isJsonObject($defs) && { $defs }),
  };
}
