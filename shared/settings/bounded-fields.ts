import * as z from 'zod';
// Imported by name: through `z` the core is bundled as a whole, with its texts in forty languages.
import { $constructor, $ZodAsyncError } from 'zod/v4/core';
import { errorsToldMax, mapMembersMax } from '#core/request-limits.ts';

/**
 * Zod's list, for untrusted data. Zod gathers every violation of every item, and passes them on as arguments of one call: a hundred
 * thousand of them exhaust the stack. Here a list that is too long is refused before its items are read, and only as many violations are
 * kept as are reported; the others are counted.
 */
interface BoundedArray extends z.ZodArray {
  readonly _zod: z.ZodArray['_zod'] & { def: BoundedArrayDef };
}

interface BoundedArrayDef extends z.core.$ZodArrayDef<z.ZodType> {
  readonly itemsMax: number;
}

/** Violations counted but not kept, since the outermost parsing began. Parsing is synchronous. */
let dropped = 0;

const initArray: (schema: BoundedArray, def: BoundedArrayDef) => void = z.ZodArray.init;

const BoundedArray = $constructor<BoundedArray>('BoundedArray', (schema, def) => {
  const { itemsMax, element } = def;
  initArray(schema, def);
  const parseOther = schema._zod.parse;
  schema._zod.parse = (payload, context) => {
    const input: unknown = payload.value;
    if (!Array.isArray(input)) return parseOther(payload, context);
    if (input.length > itemsMax) {
      refuseSize(payload, `expected at most ${itemsMax} items, got ${input.length}`);
      return payload;
    }
    payload.value = input.map((item: unknown, index) => {
      const result = element._zod.run({ value: item, issues: [] }, context);
      if (result instanceof Promise) throw new $ZodAsyncError();
      keepIssues(payload, result, index);
      return result.value;
    });
    return payload;
  };
});

/** A list with a maximum number of items. */
export function boundedArray<T>(
  element: z.ZodType<T>,
  { itemsMax, error }: { readonly itemsMax: number; readonly error: z.core.$ZodErrorMap },
): z.ZodType<T[]> {
  const def: BoundedArrayDef = { type: 'array', element, error, itemsMax };
  return new BoundedArray(def) as unknown as z.ZodType<T[]>;
}

/** A map of at most {@link mapMembersMax} members. */
export function boundedRecord<T>(
  value: z.ZodType<T>,
  error: z.core.$ZodErrorMap,
): z.ZodType<Record<string, T>> {
  const record = z.record(z.string(), value, { error });
  const parseSmall = record._zod.run;
  record._zod.run = (payload, context) => {
    const input: unknown = payload.value;
    const size = typeof input === 'object' && input !== null ? Object.keys(input).length : 0;
    if (size <= mapMembersMax) return parseSmall(payload, context);
    refuseSize(payload, `expected at most ${mapMembersMax} members, got ${size}`);
    return payload;
  };
  return record;
}

/** The result of a parsing, and how many violations it counted but did not keep. */
export interface CountedResult<T> {
  readonly result: z.ZodSafeParseResult<T>;
  readonly dropped: number;
}

/** Parses, and counts the violations that are not kept. */
export function parseCounting<T>(schema: z.ZodType<T>, input: unknown): CountedResult<T> {
  const before = dropped;
  dropped = 0;
  try {
    return { result: schema.safeParse(input), dropped };
  } finally {
    dropped = before;
  }
}

function refuseSize(payload: z.core.ParsePayload, message: string): void {
  payload.issues.push({ code: 'custom', message, input: payload.value });
}

function keepIssues(payload: z.core.ParsePayload, { issues }: z.core.ParsePayload, index: number): void {
  for (const issue of issues) {
    if (payload.issues.length >= errorsToldMax) dropped += 1;
    else payload.issues.push({ ...issue, path: [index, ...(issue.path ?? [])] } as typeof issue);
  }
}
