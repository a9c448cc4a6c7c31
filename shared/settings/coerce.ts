import * as z from 'zod';
import { $constructor, $ZodAsyncError } from 'zod/v4/core';
import { InvalidInputError } from '#core/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import { errorsToldMax, listItemsMax, mapMembersMax } from '#core/request-limits.ts';
import { bindKeys } from './spring-config.ts';

/**
 * Building blocks for data that Clouddriver reads with Jackson: operation descriptions and accounts.
 *
 * They accept what Jackson's defaults accept, because real pipelines rely on it: scalars convert where the text is the same, `null` equals
 * absent, unknown fields of objects are ignored. They refuse what Jackson refuses: a single value is no list, a list or object is no
 * scalar. An absent value is `undefined`; wrap a field in `withDefault` or `requireField` to change that.
 *
 * A message names what was expected and the type of the input. It never quotes a string: any string may be a secret.
 *
 * What a scalar field accepts is attached to it as JSON Schema, since no schema of a transformation shows it: the API's document uses it.
 */
export type Field<T> = z.ZodType<T>;

/** Keywords of JSON Schema. */
type JsonSchemaKeywords = { readonly [keyword: string]: JsonValue };

/** Bounds of a whole number, both inclusive. They default to those of Java's `int`. */
export interface IntFieldOptions {
  readonly min?: number;
  readonly max?: number;
}

/** Bounds of a list. */
export interface ListFieldOptions {
  /** Items accepted. Default {@link listItemsMax}. */
  readonly itemsMax?: number;
}

/** Java's `int`. */
const int32 = { min: -(2 ** 31), max: 2 ** 31 - 1 };

/** A whole number: `3`, `3.0`, `"3"`; as in Jackson `2.9` is 2 but `"2.9"` is refused. The empty string is absent. */
export function intField(options: IntFieldOptions = {}): Field<number | undefined> {
  const { min = int32.min, max = int32.max } = options;
  const pattern = '^\\s*([+-]?\\d+)?\\s*$';
  const accepted = { type: ['number', 'string', 'null'], minimum: min, maximum: max, pattern };
  return scalarField(`a whole number${describeBounds(options)}`, accepted, (value) => {
    const number = typeof value === 'string' && /^[+-]?\d+$/.test(value) ? Number(value) : value;
    if (typeof number !== 'number' || !Number.isFinite(number)) return undefined;
    const whole = Math.trunc(number) + 0;
    return whole >= min && whole <= max ? whole : undefined;
  });
}

/** `true` and `false`, the same words in lower, upper or title case, and integers (0 is false). `""` is absent. */
export function booleanField(): Field<boolean | undefined> {
  const pattern = '^\\s*(true|True|TRUE|false|False|FALSE)?\\s*$';
  const accepted = { type: ['boolean', 'string', 'integer', 'null'], pattern };
  return scalarField('true or false', accepted, (value) => {
    if (typeof value === 'boolean') return value;
    if (typeof value === 'bigint') return true;
    if (typeof value === 'number' && Number.isInteger(value)) return value !== 0;
    if (typeof value !== 'string') return undefined;
    if (/^(true|True|TRUE)$/.test(value)) return true;
    return /^(false|False|FALSE)$/.test(value) ? false : undefined;
  });
}

/** A string; numbers and booleans become their text. The empty string stays. */
export function stringField(): Field<string | undefined> {
  return nullishField('a string', { type: ['string', 'number', 'boolean', 'null'] }, toText);
}

/** One of a set of strings, in this exact spelling. */
export function enumField<const T extends string>(values: readonly T[]): Field<T | undefined> {
  const accepted = { enum: [...values, null] };
  return nullishField(`one of ${values.join(', ')}`, accepted, (value) =>
    values.find((known) => known === value),
  );
}

/** A list of strings; see `stringField` for its items. Null items are dropped. */
export function stringListField(options: ListFieldOptions = {}): Field<readonly string[] | undefined> {
  return listOf(stringField(), options);
}

/**
 * A list of names in a configuration, where Spring also takes one text with commas; the empty text is the empty list.
 * Blank names are refused: a list that lost its only name would often mean "all".
 */
export function nameListField(): Field<readonly string[] | undefined> {
  const name = z
    .string()
    .refine((text) => text.trim() !== '', { error: 'expected a name, got an empty string' });
  const split = z.unknown().transform((value) => {
    if (typeof value !== 'string') return value;
    return value.trim() === '' ? [] : value.split(',').map((item) => item.trim());
  });
  return split.optional().pipe(listOf(stringField().pipe(name.optional())));
}

/** An object with string values; see `stringField` for the values. Null members are dropped. */
export function stringMapField(): Field<Readonly<Record<string, string>> | undefined> {
  const schema = boundedRecord(stringField(), refuse('an object'));
  return optionalOf(schema).transform((map) => (map === undefined ? undefined : dropAbsentMembers(map)));
}

/** A list whose items are read by `item`. Null items are dropped. */
export function listOf<T>(
  item: Field<T | undefined>,
  { itemsMax = listItemsMax }: ListFieldOptions = {},
): Field<readonly T[] | undefined> {
  return optionalOf(boundedArray(item, { itemsMax, error: refuse('a list') })).transform((items) =>
    items?.filter((entry): entry is NonNullable<typeof entry> => entry !== undefined && entry !== null),
  );
}

/** An object with the named fields; other members are ignored. Use it for whole descriptions with `requireField`. */
export function objectField<const S extends z.core.$ZodLooseShape>(
  shape: S,
): Field<z.output<z.ZodObject<S>> | undefined> {
  return optionalOf(z.object(shape, { error: refuse('an object') }));
}

/** An object with the named fields that keeps its other members as they are. */
export function openObjectField<const S extends z.core.$ZodLooseShape>(
  shape: S,
): Field<z.output<z.ZodObject<S, z.core.$loose>> | undefined> {
  return optionalOf(z.looseObject(shape, { error: refuse('an object') }));
}

/** An object with the named fields in a configuration: its keys may have any spelling that Spring accepts. */
export function settingsField<const S extends z.core.$ZodLooseShape>(
  shape: S,
): Field<z.output<z.ZodObject<S>> | undefined> {
  const names = Object.keys(shape);
  const bind = z.unknown().transform((value) => (isJsonObject(value) ? bindKeys(value, names) : value));
  return bind.optional().pipe(objectField(shape));
}

/** Any JSON object, unchanged: a manifest, metadata. */
export function jsonObjectField(): Field<JsonObject | undefined> {
  const accepted = { type: ['object', 'null'] };
  return nullishField('an object', accepted, (value) => (isJsonObject(value) ? value : undefined));
}

/** Any JSON value, unchanged. Null is absent. */
export function jsonField(): Field<JsonValue | undefined> {
  return nullishField('a JSON value', {}, (value) => value as JsonValue);
}

/** The field with `fallback` in place of an absent value. */
export function withDefault<T, D extends T>(field: Field<T | undefined>, fallback: D): Field<T> {
  return field.transform((value) => value ?? fallback);
}

/** The field, refused when its value is absent. An empty string or list is a value. */
export function requireField<T>(field: Field<T | undefined>): Field<T> {
  return field.transform((value, context) => {
    if (value !== undefined) return value;
    context.issues.push({ code: 'custom', message: 'expected a value, got none', input: value });
    return z.NEVER;
  });
}

/**
 * Reads `input` by `schema`.
 *
 * @param context what is being read (`scaleManifest`, `account prod`): prefix of each message.
 * @throws InvalidInputError with one sentence for each violation: context, path of the field, what was expected, the type of the input.
 */
export function parseWith<T>(schema: Field<T>, input: unknown, context: string): T {
  return parse(schema, input, (path) => [context, path].filter(Boolean).join(': '));
}

/**
 * Reads the part of a configuration at the dotted path `at`.
 *
 * @throws InvalidInputError with one sentence for each violation, which begins with the whole path: `kubernetes.accounts[0].cacheThreads:
 *   expected a whole number, got a list`.
 */
export function parseAt<T>(schema: Field<T>, input: unknown, at: string): T {
  return parse(schema, input, (path) => (path === '' || path.startsWith('[') ? at + path : `${at}.${path}`));
}

function parse<T>(schema: Field<T>, input: unknown, toPlace: (path: string) => string): T {
  const { result, dropped } = parseCounting(schema, input);
  if (result.success) return result.data;
  throw new InvalidInputError(
    result.error.issues.map(({ path, message }) =>
      [toPlace(formatPath(path)), message].filter(Boolean).join(': '),
    ),
    { omitted: dropped },
  );
}

/** `manifests[0].metadata.name`. */
function formatPath(path: readonly PropertyKey[]): string {
  return path
    .map((key, index) => (typeof key === 'number' ? `[${key}]` : `${index === 0 ? '' : '.'}${String(key)}`))
    .join('');
}

/** The requested bounds, in words. */
function describeBounds({ min, max }: IntFieldOptions): string {
  if (min !== undefined && max !== undefined) return ` from ${min} to ${max}`;
  if (min !== undefined) return ` of at least ${min}`;
  return max === undefined ? '' : ` of at most ${max}`;
}

/** A field where the empty string is absent too, as for Jackson's numbers and booleans. */
function scalarField<T>(
  expected: string,
  accepted: JsonSchemaKeywords,
  read: (value: unknown) => T | undefined,
): Field<T | undefined> {
  const field = nullishField(expected, accepted, (value) =>
    read(typeof value === 'string' ? value.trim() : value),
  );
  return z
    .unknown()
    .optional()
    .transform((value) => (typeof value === 'string' && value.trim() === '' ? undefined : value))
    .pipe(field)
    .meta(accepted);
}

/** A field that is absent when null or undefined; `read` returns undefined for what it refuses. */
function nullishField<T>(
  expected: string,
  accepted: JsonSchemaKeywords,
  read: (value: unknown) => T | undefined,
): Field<T | undefined> {
  return z
    .unknown()
    .optional()
    .transform((value, context) => {
      if (value === undefined || value === null) return undefined;
      const found = read(value);
      if (found !== undefined) return found;
      context.issues.push({ code: 'custom', message: refuse(expected)({ input: value }), input: value });
      return z.NEVER;
    })
    .meta(accepted);
}

/** Makes a schema accept null and absence, both read as undefined. */
function optionalOf<T>(schema: z.ZodType<T>): Field<T | undefined> {
  return schema.nullish().transform((value) => value ?? undefined);
}

/** The text of a scalar. */
function toText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean'
    ? String(value)
    : undefined;
}

/** The map without its undefined members. */
function dropAbsentMembers(map: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(map).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

/** The message for a value of the wrong kind. Numbers and booleans are shown, strings never. */
function refuse(expected: string): (issue: { readonly input?: unknown }) => string {
  return ({ input }) => `expected ${expected}, got ${describeInput(input)}`;
}

/** The input, in an error message's words: numbers and booleans are shown, strings never. */
export function describeInput(value: unknown): string {
  if (value === undefined || value === null) return 'none';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  if (typeof value === 'string') return value === '' ? 'an empty string' : 'a string (not shown)';
  return String(value);
}

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
function boundedArray<T>(
  element: z.ZodType<T>,
  { itemsMax, error }: { readonly itemsMax: number; readonly error: z.core.$ZodErrorMap },
): z.ZodType<T[]> {
  const def: BoundedArrayDef = { type: 'array', element, error, itemsMax };
  return new BoundedArray(def) as unknown as z.ZodType<T[]>;
}

/** A map of at most {@link mapMembersMax} members. */
function boundedRecord<T>(value: z.ZodType<T>, error: z.core.$ZodErrorMap): z.ZodType<Record<string, T>> {
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
interface CountedResult<T> {
  readonly result: z.ZodSafeParseResult<T>;
  readonly dropped: number;
}

/** Parses, and counts the violations that are not kept. */
function parseCounting<T>(schema: z.ZodType<T>, input: unknown): CountedResult<T> {
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
