import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { accountFactsBytesMax } from '#accounts/account-facts.ts';
import {
  DynamoAccountFactsStore,
  factsChunkBytesMax,
  inlineFactsMax,
} from '#accounts/aws/account-facts-store.ts';
import { ItemTable } from '#platform/aws/table.ts';
import { accountFactsPartition, cacheTable } from '#platform/aws/tables.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';
import { createTestClock } from '#test/support/run/test-clock.ts';

const openTable = useLocalTables();
const clock = createTestClock();

/** A store as a process has it: it remembers nothing of the others. */
function open(): DynamoAccountFactsStore {
  const { openDocuments, tableName } = openTable(cacheTable);
  return new DynamoAccountFactsStore({ table: new ItemTable(openDocuments(), tableName), clock });
}

function openItems(): ItemTable {
  const { openDocuments, tableName } = openTable(cacheTable);
  return new ItemTable(openDocuments(), tableName);
}

/** A text that cannot be compressed to less than so many bytes. */
function makeText(bytes: number): string {
  return randomBytes(bytes).toString('hex');
}

async function listKeys(): Promise<readonly string[]> {
  const items = await openItems().query(accountFactsPartition);
  return items.map(({ sk }) => String(sk).replace(/[0-9a-f]{64}/, 'HASH'));
}

beforeEach(async () => {
  const items = openItems();
  for (const { pk, sk } of await items.query(accountFactsPartition)) {
    await items.delete({ pk: String(pk), sk: String(sk) });
  }
});

describe('published account facts', () => {
  it('are nothing at first', async () => {
    expect(await open().read()).toBeUndefined();
  });

  it.each([
    ['small', 10, ['HEAD']],
    ['larger than what is looked at again and again', inlineFactsMax + 1, ['CHUNK#HASH#0', 'HEAD']],
    [
      'larger than an item',
      2 * factsChunkBytesMax + 1,
      ['CHUNK#HASH#0', 'CHUNK#HASH#1', 'CHUNK#HASH#2', 'HEAD'],
    ],
  ])('are read by others as they were written: %s', async (_what, bytes, keys) => {
    const text = makeText(bytes);
    expect(await open().publish(text)).toBe(true);
    expect(await open().read()).toBe(text);
    expect(await listKeys()).toEqual(keys);
  });

  it('are written only when they are new', async () => {
    const text = makeText(10);
    await open().publish(text);
    clock.advance(60_000);
    const [before] = await openItems().query(accountFactsPartition);

    expect(await open().publish(text)).toBe(false);

    expect(await openItems().query(accountFactsPartition)).toEqual([before]);
    expect(await open().publish(makeText(10))).toBe(true);
  });

  it('are found by who has just read that the ones before are in force, and are not kept for ever', async () => {
    const texts = Array.from({ length: 4 }, () => makeText(inlineFactsMax + 1));
    for (const text of texts) await open().publish(text);

    expect(await open().read()).toBe(texts[3]);
    // Those in force, and the ones before them.
    expect(await listKeys()).toEqual(['CHUNK#HASH#0', 'CHUNK#HASH#0', 'HEAD']);
  });

  it('may go back to what they were', async () => {
    const [one, other] = [makeText(inlineFactsMax + 1), makeText(inlineFactsMax + 1)];
    for (const text of [one, other, one, other, one]) await open().publish(text);
    expect(await open().read()).toBe(one);
  });

  it('that are not whole are refused, and mended by the next process that publishes them', async () => {
    const text = makeText(inlineFactsMax + 1);
    await open().publish(text);
    const [chunk] = await openItems().query(accountFactsPartition);
    await openItems().delete({ pk: accountFactsPartition, sk: String(chunk?.['sk']) });

    await expect(open().read()).rejects.toThrow('the account facts are not whole');
    expect(await open().publish(text)).toBe(true);
    expect(await open().read()).toBe(text);
  });

  it('have a size that is bounded', async () => {
    await expect(open().publish('x'.repeat(accountFactsBytesMax + 1))).rejects.toThrow('at most 16777216');
    expect(await open().read()).toBeUndefined();
  });

  it('are read without the contents as long as these are the same', async () => {
    const { openDocuments, tableName } = openTable(cacheTable);
    const documents = openDocuments();
    const seen: string[] = [];
    documents.middlewareStack.add(
      (next, context) => (input) => {
        seen.push(`${context.commandName}`);
        return next(input);
      },
      { step: 'initialize' },
    );
    const reader = new DynamoAccountFactsStore({ table: new ItemTable(documents, tableName), clock });
    await open().publish(makeText(inlineFactsMax + 1));

    await reader.read();
    await reader.read();
    await reader.read();

    // All that the role of a reader may do.
    expect(seen).toEqual(['GetItemCommand', 'GetItemCommand', 'GetItemCommand', 'GetItemCommand']);
  });
});
