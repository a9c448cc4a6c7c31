import type { JsonValue } from '#core/json.ts';
import type { Logger } from '#core/logger.ts';
import { specAccounts } from './operation-spec.ts';

/** A log that keeps its lines, as text with everything that the real one would write of their fields. */
export interface TextLog {
  readonly logger: Logger;
  readonly lines: readonly string[];
}

/** Opens a log that keeps its lines. */
export function createTextLog(): TextLog {
  const lines: string[] = [];
  const add = (message: string, fields: object = {}): void => {
    lines.push(JSON.stringify([message, fields], writeError));
  };
  return { logger: { debug: add, info: add, warn: add, error: add }, lines };
}

/** An error's own words: JSON leaves them out. */
function writeError(_key: string, value: unknown): unknown {
  if (!(value instanceof Error)) return value;
  const { name, message, stack, cause } = value;
  return { name, message, stack, cause };
}

/** How two runs are made comparable. */
export interface ComparisonOptions {
  /** Name of the place of the run: `PLACE` stands for it. */
  readonly place: string;
  /** What may differ, and the text that stands for it. Default: nothing. */
  readonly varies?: readonly (readonly [RegExp, string])[];
}

/** A value whose texts do not tell in which place the run was, by which account, nor what may differ. */
export function toComparable<T extends JsonValue>(value: T, { place, varies = [] }: ComparisonOptions): T {
  const { everywhere, within } = specAccounts;
  const text = [place, everywhere, within].reduce(
    (written, name) => written.replaceAll(name, name === place ? 'PLACE' : 'ACCOUNT'),
    JSON.stringify(value),
  );
  return JSON.parse(varies.reduce((written, [pattern, name]) => written.replaceAll(pattern, name), text));
}
