import { type JsonBounds, parseBoundedJson } from '#core/bounded-json.ts';
import type { JsonValue } from '#core/json.ts';
import { answerJsonBounds } from './answer-limits.ts';

/** The JSON in a text; undefined if it is not JSON, or beyond the bounds. Default: those of answers. */
export function findJson(text: string, bounds: JsonBounds = answerJsonBounds): JsonValue | undefined {
  try {
    return parseBoundedJson(text, bounds).value;
  } catch {
    return undefined;
  }
}
