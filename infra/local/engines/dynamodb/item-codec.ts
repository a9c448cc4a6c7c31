import type { ItemFigures, RawItem } from './attribute-values.ts';
import type { Row, TableRows } from './table-rows.ts';

/** The attribute that has a column of its own. */
type BodyColumn = Pick<TableRows, 'bodyAttribute'>;

/** An item as it is stored: DynamoDB's JSON, which has the type of each value, and its body as it is. Other bytes are base64. */
export function encodeItem(
  item: RawItem,
  { bytes, hasBinary }: ItemFigures,
  { bodyAttribute = '' }: BodyColumn,
): Row {
  const { [bodyAttribute]: body, ...head } = item;
  const content = body?.S ?? body?.B;
  const text = JSON.stringify(content === undefined ? item : head, hasBinary ? replaceBytes : undefined);
  return { text, body: content, bytes };
}

/** Bytes can only follow this in the text. A text that holds the same is searched without success. */
const binaryMark = '{"B":"';

/** The item of a row that {@link encodeItem} made, as far as it was read. */
export function decodeItem({ text, body }: Row, { bodyAttribute = '' }: BodyColumn): RawItem {
  const item = JSON.parse(text, text.includes(binaryMark) ? reviveBytes : undefined);
  if (body === undefined || body === null) return item;
  item[bodyAttribute] = typeof body === 'string' ? { S: body } : { B: body };
  return item;
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
