import { parseJson } from '#core/json.ts';
import { cacheReader } from '#platform/aws/item-reader.ts';
import type { ItemKey, RawItem } from '#platform/aws/table.ts';
import { tombstoneRetentionMs } from '../../store/cache-store.ts';
import { isRevision, type Revision } from '../../store/revision.ts';
import type { Part, RowText } from './cache-buckets.ts';
import { isUnchanged } from './cache-names.ts';
import type { CacheParts } from './cache-parts.ts';
import { packText, unpackText } from './packed-text.ts';

/** Bytes up to which a part is stored uncompressed. */
const plainPartBytesMax = 2 * 1024;

/** Writes a part, unless it was written since. @param bucket its key without the part's number @throws ItemTooLargeError */
export async function writePart(
  { table, clock }: Pick<CacheParts, 'table' | 'clock'>,
  bucket: ItemKey,
  part: Part,
): Promise<boolean> {
  const live = part.rows.values().reduce((sum, row) => sum + row.live, 0);
  const what = `${bucket.pk} ${bucket.sk}`;
  const item = {
    pk: bucket.pk,
    sk: `${bucket.sk}${part.index}`,
    body: packText(formatRows(part.rows), { plainBytesMax: plainPartBytesMax, what }),
    floor: part.floor,
    live,
    revision: part.versionNumber + 1,
    expiresAt: live > 0 ? undefined : Math.ceil((clock.now() + tombstoneRetentionMs) / 1000),
  };
  return table.putIf(item, isUnchanged({ revision: part.versionNumber || undefined }));
}

/** The part that an item of a partition holds; an empty one for an unreadable item, which is to be overwritten. Rows are not decoded. */
export function parsePart(item: RawItem, pk: string, { unreadable }: Pick<CacheParts, 'unreadable'>): Part {
  const sk = item['sk']?.S ?? '';
  const place = {
    index: Number(sk.slice(sk.lastIndexOf('#') + 1)),
    versionNumber: Number(item['revision']?.N ?? 0),
  };
  const content = unreadable.read({ pk, sk }, () => parseContent(item));
  return { ...place, ...(content ?? { rows: new Map(), floor: undefined, bytes: 0 }) };
}

function parseContent(item: RawItem): Pick<Part, 'rows' | 'floor' | 'bytes'> {
  cacheReader.checkForm({ sk: item['sk']?.S, form: item['form'] && Number(item['form'].N) });
  const body = item['body']?.S ?? item['body']?.B;
  const text = unpackText(body ?? fail(item, 'body', 'a text or bytes'));
  return { rows: parseRows(text, item), floor: readFloor(item), bytes: text.length };
}

/** Two lines a row: its metadata, and its text. So rows need not be decoded to be found or written again. */
function formatRows(rows: ReadonlyMap<string, RowText>): string {
  return [...rows]
    .map(([row, { text, live, goneAtMs }]) => `${JSON.stringify([row, live, goneAtMs])}\n${text}`)
    .join('\n');
}

function parseRows(text: string, item: RawItem): Map<string, RowText> {
  const rows = new Map<string, RowText>();
  const lines = text === '' ? [] : text.split('\n');
  for (let index = 0; index + 1 < lines.length; index += 2) {
    const head = parseJson(lines[index] ?? '');
    if (!isRowHead(head)) return fail(item, 'body', 'the rows that were written');
    const [row, live, goneAtMs] = head;
    rows.set(row, { text: lines[index + 1] ?? '', live, goneAtMs });
  }
  return rows;
}

function readFloor(item: RawItem): Revision | undefined {
  const floor = item['floor'];
  if (floor === undefined) return undefined;
  return isRevision(floor.S) ? floor.S : fail(item, 'floor', 'a revision');
}

function isRowHead(value: unknown): value is readonly [row: string, live: number, goneAtMs: number] {
  if (!Array.isArray(value)) return false;
  return typeof value[0] === 'string' && typeof value[1] === 'number' && typeof value[2] === 'number';
}

function fail({ pk, sk }: RawItem, attribute: string, expected: string): never {
  return cacheReader.fail({ pk: pk?.S, sk: sk?.S }, { attribute, expected });
}
