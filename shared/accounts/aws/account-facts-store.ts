import { hash as digest } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { cacheReader, unlessMalformed } from '#platform/aws/item-reader.ts';
import type { Item, ItemKey, TimedTable } from '#platform/aws/table.ts';
import { accountFactsPartition } from '#platform/aws/tables.ts';
import { type AccountFactsStore, accountFactsBytesMax } from '../account-facts.ts';

const compress = promisify(gzip);
const decompress = promisify(gunzip);

/** Bytes of compressed facts that fit into the head: each read of it pays for the whole item. */
export const inlineFactsMax = 3 * 1024;

/** Bytes of one chunk: below DynamoDB's 400 KB an item, with room for its other attributes. */
export const factsChunkBytesMax = 350 * 1024;

/** The item that names the facts in force. Replacing it is the commit. */
interface Head {
  /** SHA-256 of the text, hex. */
  readonly hash: string;
  /** Wall time in ms. */
  readonly publishedAt: number;
  /** The text, compressed, when it is small … */
  readonly data?: Uint8Array;
  /** … or else the number of its chunks, whose keys begin with its hash. */
  readonly chunks: number;
  /** The facts before these: for readers that have just read the previous head. */
  readonly former?: Pick<Head, 'hash' | 'chunks'>;
}

/**
 * Account facts in one partition of the cache's table: a head of a few hundred bytes, which readers poll, and the text, which they read
 * when its hash has changed. Readers need only GetItem on that partition.
 */
export class DynamoAccountFactsStore implements AccountFactsStore {
  readonly #options: TimedTable;
  #known: { readonly hash: string; readonly text: string } | undefined;

  constructor(options: TimedTable) {
    this.#options = options;
  }

  async read(): Promise<string | undefined> {
    const head = await this.#readHead();
    if (head === undefined) return undefined;
    // The publication may have been replaced twice between the reads of its head and its chunks.
    const text = (await this.#readText(head)) ?? (await this.#readAgain(head));
    if (text === undefined) throw new Error('the account facts are not whole');
    return text;
  }

  async publish(text: string): Promise<boolean> {
    const bytes = Buffer.byteLength(text);
    if (bytes > accountFactsBytesMax) {
      throw new Error(
        `the account facts have ${bytes} bytes; at most ${accountFactsBytesMax} can be published`,
      );
    }
    const hash = digest('sha256', text);
    const before = await this.#readHead();
    // A new process checks whether the stored text is complete.
    if (before?.hash === hash && (await this.#readText(before)) !== undefined) return false;
    await this.#write(hash, await compress(text), before);
    const outdated = before?.former;
    if (outdated && ![hash, before?.hash].includes(outdated.hash)) await this.#removeChunks(outdated);
    return true;
  }

  async #readHead(): Promise<Head | undefined> {
    const item = await this.#options.table.get(headKey);
    // The publisher overwrites what cannot be read.
    return item && unlessMalformed(() => parseHead(item));
  }

  async #readAgain(stale: Head): Promise<string | undefined> {
    const head = await this.#readHead();
    return head === undefined || head.hash === stale.hash ? undefined : this.#readText(head);
  }

  /** The text of a head; undefined when a chunk is missing or the hash differs. */
  async #readText(head: Head): Promise<string | undefined> {
    if (this.#known?.hash === head.hash) return this.#known.text;
    const parts = head.data === undefined ? await this.#readChunks(head) : [head.data];
    if (parts === undefined) return undefined;
    const bytes = await decompress(Buffer.concat(parts), { maxOutputLength: accountFactsBytesMax });
    const text = bytes.toString('utf8');
    if (digest('sha256', text) !== head.hash) return undefined;
    this.#known = { hash: head.hash, text };
    return text;
  }

  async #readChunks({ hash, chunks }: Head): Promise<readonly Uint8Array[] | undefined> {
    const keys = Array.from({ length: chunks }, (_, index) => toChunkKey(hash, index));
    const items = await Promise.all(keys.map((key) => this.#options.table.get(key)));
    const found = items.filter((item): item is Item => item !== undefined);
    return found.length === chunks ? found.map((item) => cacheReader.getBytes(item, 'data')) : undefined;
  }

  async #write(hash: string, bytes: Uint8Array, before: Head | undefined): Promise<void> {
    const { table, clock } = this.#options;
    const isSmall = bytes.length <= inlineFactsMax;
    const chunks = isSmall ? 0 : Math.ceil(bytes.length / factsChunkBytesMax);
    for (let index = 0; index < chunks; index += 1) {
      const data = bytes.subarray(index * factsChunkBytesMax, (index + 1) * factsChunkBytesMax);
      await table.put({ ...toChunkKey(hash, index), data });
    }
    await table.put({
      ...headKey,
      hash,
      publishedAt: clock.now(),
      chunks,
      ...(isSmall && { data: bytes }),
      ...(before && { former: { hash: before.hash, chunks: before.chunks } }),
    });
  }

  async #removeChunks({ hash, chunks }: Pick<Head, 'hash' | 'chunks'>): Promise<void> {
    for (let index = 0; index < chunks; index += 1) await this.#options.table.delete(toChunkKey(hash, index));
  }
}

const headKey: ItemKey = { pk: accountFactsPartition, sk: 'HEAD' };

function parseHead(item: Item): Head {
  cacheReader.checkForm(item);
  const data = item['data'] === undefined ? undefined : cacheReader.getBytes(item, 'data');
  const former = cacheReader.findMap(item, 'former');
  return {
    hash: cacheReader.getText(item, 'hash'),
    publishedAt: cacheReader.getNumber(item, 'publishedAt'),
    chunks: cacheReader.getNumber(item, 'chunks'),
    ...(data && { data }),
    ...(former && {
      former: {
        hash: cacheReader.getText(former, 'hash', cacheReader.describeMap(item, 'former')),
        chunks: cacheReader.getNumber(former, 'chunks', cacheReader.describeMap(item, 'former')),
      },
    }),
  };
}

function toChunkKey(hash: string, index: number): ItemKey {
  return { pk: accountFactsPartition, sk: `CHUNK#${hash}#${index}` };
}
