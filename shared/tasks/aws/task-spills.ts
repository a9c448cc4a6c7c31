import { parseJson } from '#core/json.ts';
import { readChunks } from '#platform/aws/chunks.ts';
import { isTexts, taskReader } from '#platform/aws/item-reader.ts';
import type { Item } from '#platform/aws/table.ts';
import { type HeaderItem, isSpillKey } from './task-items.ts';

/** The texts of a task's journal entries, with spills read from the items of its partition. */
export async function readJournal(header: HeaderItem, items: readonly Item[]): Promise<string[]> {
  const texts: string[] = [];
  for (const text of header.journal) {
    if (!isSpillKey(text)) texts.push(text);
    else texts.push(...(await readSpill(items.filter((item) => String(item['sk']).startsWith(`${text}#`)))));
  }
  return texts;
}

async function readSpill(chunks: readonly Item[]): Promise<readonly string[]> {
  const texts = parseJson(await readChunks(taskReader, chunks));
  const [chunk = {}] = chunks;
  const expected = 'a list of journal entries';
  return isTexts(texts) ? texts : taskReader.fail(chunk, { attribute: 'data', expected });
}
