import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { ItemFigures, RawItem } from './attribute-values.ts';

/** Values as JSON has them: bytes are base64. */
type JsonItem = { [attribute: string]: object };

/** An item as it is stored: DynamoDB's JSON, which has the type of each value. */
export function encodeItem(item: RawItem, { hasBinary }: Pick<ItemFigures, 'hasBinary'>): string {
  return JSON.stringify(hasBinary ? toJsonItem(item) : item);
}

/** Bytes can only follow one of these in the text. A text that holds the same is searched without success. */
const binaryMarks = ['{"B":"', '{"BS":['];

/** The item of a text that {@link encodeItem} made. */
export function decodeItem(text: string): RawItem {
  const item: RawItem = JSON.parse(text);
  return binaryMarks.some((mark) => text.includes(mark)) ? fromJsonItem(item) : item;
}

/** An item with its bytes as base64, as it goes over the wire. */
export function toJsonItem(item: RawItem): JsonItem {
  return Object.fromEntries(Object.entries(item).map(([name, value]) => [name, toJsonValue(value)]));
}

/** What {@link toJsonItem} was made of. */
export function fromJsonItem(item: { readonly [attribute: string]: object }): RawItem {
  return Object.fromEntries(Object.entries(item).map(([name, value]) => [name, fromJsonValue(value)]));
}

function toJsonValue(value: AttributeValue): object {
  if (value.B !== undefined) return { B: toBase64(value.B) };
  if (value.BS !== undefined) return { BS: value.BS.map(toBase64) };
  if (value.L !== undefined) return { L: value.L.map(toJsonValue) };
  if (value.M !== undefined) return { M: toJsonItem(value.M) };
  return value;
}

interface JsonValue {
  readonly B?: string;
  readonly BS?: readonly string[];
  readonly L?: readonly object[];
  readonly M?: { readonly [attribute: string]: object };
}

function fromJsonValue(value: object): AttributeValue {
  const { B, BS, L, M }: JsonValue = value;
  if (B !== undefined) return { B: fromBase64(B) };
  if (BS !== undefined) return { BS: BS.map(fromBase64) };
  if (L !== undefined) return { L: L.map(fromJsonValue) };
  if (M !== undefined) return { M: fromJsonItem(M) };
  // What is neither is the same in both.
  return value as AttributeValue;
}

function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

/** A copy of its own: a Buffer may be a view of memory that it shares. */
function fromBase64(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'base64'));
}
