import { isJsonObject, type JsonObject } from '#core/json.ts';
import { AwsError } from './engine.ts';

/** What a number may be, both ends included. */
export interface NumberRange {
  readonly from: number;
  readonly to: number;
}

/** The non-empty text at `name`. @throws AwsError MissingParameter or InvalidParameterValue */
export function getText(input: JsonObject, name: string): string {
  const value = findText(input, name);
  if (value === undefined || value === '') {
    throw new AwsError('MissingParameter', `The request must contain the parameter ${name}.`);
  }
  return value;
}

/** The text at `name`, undefined when absent or null. @throws AwsError InvalidParameterValue for another type */
export function findText(input: JsonObject, name: string): string | undefined {
  const value = input[name] ?? undefined;
  if (value === undefined || typeof value === 'string') return value;
  throw refuse(`for parameter ${name}`, 'a string.');
}

/** The integer at `name`, undefined when absent or null. @throws AwsError InvalidParameterValue outside `range` */
export function findInteger(input: JsonObject, name: string, range: NumberRange): number | undefined {
  const value = input[name] ?? undefined;
  if (value === undefined) return undefined;
  if (Number.isInteger(value) && Number(value) >= range.from && Number(value) <= range.to)
    return Number(value);
  const expected = `an integer between ${range.from} and ${range.to}.`;
  throw refuse(`${JSON.stringify(value)} for parameter ${name}`, expected);
}

/** The list of texts at `name`, empty when absent. @throws AwsError InvalidParameterValue for anything else */
export function getTexts(input: JsonObject, name: string): readonly string[] {
  const value = input[name] ?? [];
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
  throw refuse(`for parameter ${name}`, 'strings.');
}

/** The list of objects at `name`, empty when absent. @throws AwsError InvalidParameterValue for anything else */
export function getObjects(input: JsonObject, name: string): readonly JsonObject[] {
  const value = input[name] ?? [];
  if (Array.isArray(value) && value.every(isJsonObject)) return value;
  throw refuse(`for parameter ${name}`, 'structures.');
}

/** The object at `name`, empty when absent. @throws AwsError InvalidParameterValue for anything else */
export function getObject(input: JsonObject, name: string): JsonObject {
  const value = input[name] ?? {};
  if (isJsonObject(value)) return value;
  throw refuse(`for parameter ${name}`, 'a structure.');
}

function refuse(what: string, expected: string): AwsError {
  return new AwsError('InvalidParameterValue', `Value ${what} is invalid. Reason: Must be ${expected}`);
}
