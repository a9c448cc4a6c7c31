import { hash } from 'node:crypto';
import { cacheReader } from '#platform/aws/item-reader.ts';
import type { Item } from '#platform/aws/table.ts';

/** Bytes of one part of a key; longer ones are cut. Names in Kubernetes have up to 253, sort keys in DynamoDB up to 1,024 in all. */
const partBytesMax = 300;

/** Bytes kept of a part that is cut, about: enough for people to recognize it. */
const headBytes = 200;

const separator = '#';
const cutMark = '%~';

/**
 * A key of several texts of any kind, different for different lists of texts. What would end a part, or would not survive UTF-8, is
 * escaped. A long text is cut and ends with its hash.
 */
export function toKeyText(...parts: readonly string[]): string {
  return parts.map(toPart).join(separator);
}

/** The attributes by which {@link readSortKey} finds the texts of a sort key. */
export function toSortKey(...parts: readonly string[]): { sk: string; parts?: readonly string[] } {
  const sk = toKeyText(...parts);
  return sk.includes(cutMark) ? { sk, parts } : { sk };
}

/** The texts of an item's sort key. */
export function readSortKey(item: Item): readonly string[] {
  return cacheReader.findTexts(item, 'parts') ?? String(item['sk']).split(separator).map(unescapeKey);
}

/** A number of fixed width, so that keys sort by it. */
export function toKeyNumber(value: number): string {
  return String(value).padStart(10, '0');
}

function toPart(text: string): string {
  const escaped = escapeKey(text);
  if (Buffer.byteLength(escaped) <= partBytesMax) return escaped;
  return `${cutHead(text)}${cutMark}${hash('sha256', escaped)}`;
}

function cutHead(text: string): string {
  let head = '';
  let bytes = 0;
  for (const character of text) {
    if (bytes >= headBytes) break;
    const escaped = escapeKey(character);
    head += escaped;
    bytes += Buffer.byteLength(escaped);
  }
  return head;
}

function escapeKey(text: string): string {
  if (!/[%#]|\p{Surrogate}/u.test(text)) return text;
  return text.replaceAll(/[%#]|\p{Surrogate}/gu, (character) => {
    const code = character.charCodeAt(0).toString(16).toUpperCase();
    return code.length > 2 ? `%u${code}` : `%${code}`;
  });
}

/** The text of a key's part that was not cut. */
export function unescapeKey(part: string): string {
  if (!part.includes('%')) return part;
  return part.replaceAll(/%(?:u([0-9A-F]{4})|([0-9A-F]{2}))/g, (_, long?: string, short?: string) =>
    String.fromCharCode(Number.parseInt(long ?? short ?? '', 16)),
  );
}
