import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { invalid } from './refusals.ts';

/** An item as DynamoDB sends and takes it. */
export type RawItem = { readonly [attribute: string]: AttributeValue };

/** What is to be known of an item before it is stored. */
export interface ItemFigures {
  /** As DynamoDB counts them, from the names and values of its attributes. */
  readonly bytes: number;
  /** Whether a value of it is binary, at whatever depth. */
  readonly hasBinary: boolean;
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
 * @throws AwsError ValidationException for what DynamoDB takes no item of: 400 KB, types, empty sets
 */
export function inspectItem(item: RawItem): ItemFigures {
  const count: Count = { bytes: 0, hasBinary: false };
  for (const name in item) countAttribute(count, name, { value: item[name], depth: 1 });
  if (count.bytes > itemBytesMax) throw invalid('Item size has exceeded the maximum allowed size');
  return count;
}

interface Count {
  bytes: number;
  hasBinary: boolean;
}

interface CountedValue {
  readonly value: AttributeValue | undefined;
  readonly depth: number;
}

function countAttribute(count: Count, name: string, counted: CountedValue): void {
  count.bytes += Buffer.byteLength(name);
  countValue(count, counted);
}

function countValue(count: Count, { value, depth }: CountedValue): void {
  if (depth > depthMax) throw invalid('Nesting Levels have exceeded supported limits');
  if (value?.S !== undefined) count.bytes += Buffer.byteLength(value.S);
  else if (value?.N !== undefined) count.bytes += measureNumber(value.N);
  else if (value?.BOOL !== undefined || value?.NULL === true) count.bytes += 1;
  else if (value?.B !== undefined) countBinary(count, [value.B]);
  else if (value?.L !== undefined) countList(count, value.L, depth + 1);
  else if (value?.M !== undefined) countMap(count, value.M, depth + 1);
  else if (value?.SS !== undefined) count.bytes += measureSet(value.SS, (text) => Buffer.byteLength(text));
  else if (value?.NS !== undefined) count.bytes += measureSet(value.NS, measureNumber);
  else if (value?.BS !== undefined) {
    measureSet(value.BS.map(toKey), (text) => text.length);
    countBinary(count, value.BS);
  } else {
    throw invalid('Supplied AttributeValue is empty, must contain exactly one of the supported datatypes');
  }
}

function countBinary(count: Count, values: readonly Uint8Array[]): void {
  count.hasBinary = true;
  for (const { byteLength } of values) count.bytes += byteLength;
}

/** Three bytes for a list or a map, and one for each element. */
function countList(count: Count, values: readonly AttributeValue[], depth: number): void {
  count.bytes += 3 + values.length;
  for (const value of values) countValue(count, { value, depth });
}

function countMap(count: Count, values: RawItem, depth: number): void {
  count.bytes += 3;
  for (const name in values) {
    count.bytes += 1;
    countAttribute(count, name, { value: values[name], depth });
  }
}

/** @throws AwsError for an empty set, and one that has something twice */
function measureSet(texts: readonly string[], measure: (text: string) => number): number {
  if (texts.length === 0) {
    throw invalid('One or more parameter values were invalid: An set may not be empty');
  }
  if (new Set(texts).size < texts.length) {
    throw invalid('One or more parameter values were invalid: Input collection contains duplicates.');
  }
  return texts.reduce((sum, text) => sum + measure(text), 0);
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
  if (order !== undefined) return order === 0;
  if (one.L && other.L) return one.L.length === other.L.length && one.L.every(isAt(other.L));
  if (one.M && other.M) return haveSameMembers(one.M, other.M);
  if (one.SS && other.SS) return haveSameElements(one.SS, other.SS);
  if (one.NS && other.NS) return haveSameElements(one.NS.map(Number), other.NS.map(Number));
  if (one.BS && other.BS) return haveSameElements(one.BS.map(toKey), other.BS.map(toKey));
  return one.NULL === true && other.NULL === true;
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

function isAt(others: readonly AttributeValue[]): (value: AttributeValue, index: number) => boolean {
  return (value, index) => {
    const other = others[index];
    return other !== undefined && isSameValue(value, other);
  };
}

function haveSameMembers(one: RawItem, other: RawItem): boolean {
  const names = Object.keys(one);
  if (names.length !== Object.keys(other).length) return false;
  return names.every((name) => {
    const [value, otherValue] = [one[name], other[name]];
    return value !== undefined && otherValue !== undefined && isSameValue(value, otherValue);
  });
}

function haveSameElements<T>(one: readonly T[], other: readonly T[]): boolean {
  const others = new Set(other);
  return one.length === other.length && one.every((element) => others.has(element));
}

function toKey(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}
