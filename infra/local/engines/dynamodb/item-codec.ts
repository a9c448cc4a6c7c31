import type { ItemFigures, RawItem } from './attribute-values.ts';

/** An item as it is stored: DynamoDB's JSON, which has the type of each value. Bytes are base64. */
export function encodeItem(item: RawItem, { hasBinary }: Pick<ItemFigures, 'hasBinary'>): string {
  return JSON.stringify(item, hasBinary ? replaceBytes : undefined);
}

/** Bytes can only follow this in the text. A text that holds the same is searched without success. */
const binaryMark = '{"B":"';

/** The item of a text that {@link encodeItem} made. */
export function decodeItem(text: string): RawItem {
  return JSON.parse(text, text.includes(binaryMark) ? reviveBytes : undefined);
}

/** Looks at the member itself: the value of a Buffer went through `toJSON` already. */
function replaceBytes(this: { readonly [name: string]: unknown }, name: string, value: unknown): unknown {
  const given = this[name];
  if (!(given instanceof Uint8Array)) return value;
  return Buffer.from(given.buffer, given.byteOffset, given.byteLength).toString('base64');
}

/** An attribute may be named `B`, too, but is no text. A copy of its own: a Buffer may be a view of memory that it shares. */
function reviveBytes(name: string, value: unknown): unknown {
  return name === 'B' && typeof value === 'string' ? new Uint8Array(Buffer.from(value, 'base64')) : value;
}
