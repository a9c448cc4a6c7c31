import { isDeepStrictEqual } from 'node:util';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { invalid } from './refusals.ts';

/** An item as DynamoDB sends and takes it. */
export type RawItem = { readonly [attribute: string]: AttributeValue };

/** What is to be known of an item before it is stored. */
export interface ItemFigures {
  /** As DynamoDB counts them, from the names and values of its attributes. */
  bytes: number;
  /** Whether a value of it is binary, at whatever depth. */
  hasBinary: boolean;
}

/** DynamoDB's bound of an item: 400 KB. */
export const itemBytesMax = 400 * 1024;

/** Levels of lists and maps within each other: DynamoDB's bound. */
const depthMax = 32;

/** Digits of a number: DynamoDB's bound. */
const digitsMax = 38;

const numberPattern = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?$/;

/**
 * Looks at each value of an item, and counts it.
 *
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
 *
 * @throws AwsError ValidationException for what DynamoDB takes no item of: 400 KB, types. Sets are refused: nothing of ours stores any
 */
export function inspectItem(item: RawItem): Readonly<ItemFigures> {
  const count: ItemFigures = { bytes: 0, hasBinary: false };
  for (const name in item) countAttribute(count, name, { value: item[name], depth: 1 });
  if (count.bytes > itemBytesMax) throw invalid('Item size has exceeded the maximum allowed size');
  return count;
}

interface CountedValue {
  readonly value: AttributeValue | undefined;
  readonly depth: number;
}

function countAttribute(count: ItemFigures, name: string, counted: CountedValue): void {
  count.bytes += Buffer.byteLength(name);
  countValue(count, counted);
}

function countValue(count: ItemFigures, { value, depth }: CountedValue): void {
  if (depth > depthMax) throw invalid('Nesting Levels have exceeded supported limits');
  if (value?.S !== undefined) count.bytes += Buffer.byteLength(value.S);
  else if (value?.N !== undefined) count.bytes += measureNumber(value.N);
  else if (value?.BOOL !== undefined || value?.NULL === true) count.bytes += 1;
  else if (value?.B !== undefined) countBinary(count, value.B);
  else if (value?.L !== undefined) countList(count, value.L, depth + 1);
  else if (value?.M !== undefined) countMap(count, value.M, depth + 1);
  else throw invalid('Supplied AttributeValue is empty, must contain exactly one of the supported datatypes');
}

function countBinary(count: ItemFigures, { byteLength }: Uint8Array): void {
  count.hasBinary = true;
  count.bytes += byteLength;
}

/** Three bytes for a list or a map, and one for each element. */
function countList(count: ItemFigures, values: readonly AttributeValue[], depth: number): void {
  count.bytes += 3 + values.length;
  for (const value of values) countValue(count, { value, depth });
}

function countMap(count: ItemFigures, values: RawItem, depth: number): void {
  count.bytes += 3;
  for (const name in values) {
    count.bytes += 1;
    countAttribute(count, name, { value: values[name], depth });
  }
}

/** A byte for two digits, and one besides. @throws AwsError for what is no number, or has too many digits */
function measureNumber(text: string): number {
  if (!numberPattern.test(text)) {
    throw invalid(`The parameter cannot be converted to a numeric value: ${text.slice(0, 50)}`);
  }
  const digits = /^[+-]?0*([\d.]*)/.exec(text)?.[1]?.replace('.', '').length ?? 0;
  if (digits > digitsMax) {
    throw invalid('Attempting to store more than 38 significant digits in a Number');
  }
  return Math.ceil(digits / 2) + 1 + (text.startsWith('-') ? 1 : 0);
}

/** Whether two values are of one type and the same. */
export function isSameValue(one: AttributeValue, other: AttributeValue): boolean {
  const order = compareValues(one, other);
  return order === undefined ? isDeepStrictEqual(one, other) : order === 0;
}

/**
 * How two values of one type that has an order compare: below 0, 0, or above it; undefined for others. Texts and bytes compare by their
 * bytes, as those of sort keys do.
 */
export function compareValues(one: AttributeValue, other: AttributeValue): number | undefined {
  if (one.S !== undefined && other.S !== undefined) return compareTexts(one.S, other.S);
  if (one.N !== undefined && other.N !== undefined) return Number(one.N) - Number(other.N);
  if (one.B !== undefined && other.B !== undefined) return Buffer.compare(one.B, other.B);
  if (one.BOOL !== undefined && other.BOOL !== undefined) return one.BOOL === other.BOOL ? 0 : undefined;
  return undefined;
}

/** UTF-16 sorts characters beyond its first 65,536 before some of those: only then do the bytes decide. */
function compareTexts(one: string, other: string): number {
  if (one === other) return 0;
  if (!surrogate.test(one) && !surrogate.test(other)) return one < other ? -1 : 1;
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}

const surrogate = /[\uD800-\uDFFF]/;
