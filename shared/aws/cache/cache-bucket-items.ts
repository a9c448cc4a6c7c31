import { tombstoneRetentionMs } from '../../core/cache/cache-store.ts';
import type { Version } from '../../core/cache/version.ts';
import type { ItemKey } from '../table.ts';
import type { Part, RowText } from './cache-buckets.ts';
import type { CacheParts } from './cache-parts.ts';
import type { RawItem } from './cache-table.ts';
import { packText, unpackText } from './packed-text.ts';

/** Bytes up to which a part is stored as it is. */
const plainPartBytesMax = 2 * 1024;

/**
 * Writes a part, if nobody wrote it since it was read.
 *
 * @param bucket its key without the number of the part.
 * @throws ItemTooLargeError
 */
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
    revision: part.revision + 1,
    expiresAt: live > 0 ? undefined : Math.ceil((clock.now() + tombstoneRetentionMs) / 1000),
  };
  return table.putIf(
    item,
    part.revision === 0
      ? { expression: 'attribute_not_exists(pk)' }
      : { expression: 'revision = :revision', values: { ':revision': part.revision } },
  );
}

/** The part that an item holds. Rows are not decoded. */
export function parsePart(item: RawItem): Part {
  const text = unpackText(item['body']?.S ?? item['body']?.B);
  const sk = item['sk']?.S ?? '';
  return {
    index: Number(sk.slice(sk.lastIndexOf('#') + 1)),
    revision: Number(item['revision']?.N),
    rows: parseRows(text),
    floor: item['floor']?.S as Version | undefined,
    bytes: text.length,
  };
}

/** Two lines a row: what must be known of it, and its text. So rows need no decoding to be found or to be written again. */
function formatRows(rows: ReadonlyMap<string, RowText>): string {
  return [...rows]
    .map(([row, { text, live, goneAtMs }]) => `${JSON.stringify([row, live, goneAtMs])}\n${text}`)
    .join('\n');
}

function parseRows(text: string): Map<string, RowText> {
  const rows = new Map<string, RowText>();
  const lines = text === '' ? [] : text.split('\n');
  for (let index = 0; index + 1 < lines.length; index += 2) {
    const [row, live, goneAtMs] = JSON.parse(lines[index] ?? '') as [string, number, number];
    rows.set(row, { text: lines[index + 1] ?? '', live, goneAtMs });
  }
  return rows;
}
