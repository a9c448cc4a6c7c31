import {
  type AttributeValue,
  BatchGetItemCommand,
  ConditionalCheckFailedException,
  DeleteItemCommand,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  type QueryCommandOutput,
} from '@aws-sdk/client-dynamodb';
import { getPauseMs } from '#core/back-off.ts';
import type { Clock, Randomness } from '#core/clock.ts';
import { forEachConcurrently } from '#core/concurrency.ts';
import { compareText } from '#core/text-order.ts';
import {
  fromRaw,
  type Item,
  type ItemKey,
  ItemTable,
  type RawItem,
  type StoreClient,
  toRaw,
} from '#platform/aws/table.ts';
import { ItemTooLargeError } from '../../store/cache-store.ts';
import { type ReadPlace, ReadsAhead } from './reads-ahead.ts';

/** Items of one batch: DynamoDB's limit. */
const batchSize = 100;

/** Requests at a time. */
const concurrency = 4;

const batchAttemptsMax = 10;
const backOff = { firstMs: 40, mostMs: 2_000, fixedShare: 0.5 };

/** A condition in DynamoDB's expression language. */
export interface Condition {
  readonly expression: string;
  /** By placeholder: `:version`. */
  readonly values?: { readonly [placeholder: string]: unknown };
}

/** Which items of a partition to read. */
export interface PartitionQuery {
  readonly pk: string;
  /** Only sort keys with this prefix. */
  readonly prefix?: string | undefined;
  /** Only sort keys from one to another, both included; not together with a prefix. */
  readonly range?: { readonly from: string; readonly to: string } | undefined;
  /** Only sort keys after this one. */
  readonly after?: string | undefined;
  readonly consistent: boolean;
  /** Only these attributes. */
  readonly attributes?: readonly string[] | undefined;
  /** Only items that meet this; the others are paid for all the same. */
  readonly filter?: Condition;
}

interface CacheTableOptions {
  readonly documents: StoreClient;
  readonly tableName: string;
  readonly clock: Clock;
  readonly randomness: Randomness;
}

/** Access to the cache's table: besides single items, whole partitions and batches. */
export class CacheTable extends ItemTable {
  readonly #options: CacheTableOptions;
  readonly #ahead: ReadsAhead;

  constructor(options: CacheTableOptions) {
    super(options.documents, options.tableName);
    this.#options = options;
    this.#ahead = new ReadsAhead(options.clock);
  }

  /** Writes an item, replacing what is there, if that meets the condition; false when it does not. */
  async putIf(item: Item & ItemKey, condition: Condition): Promise<boolean> {
    const { documents, tableName } = this.#options;
    const command = new PutItemCommand({ TableName: tableName, Item: toRaw(item), ...toInput(condition) });
    return this.#write(item, () => documents.send(command));
  }

  /** Deletes an item if it meets the condition; false when it does not. */
  async deleteIf({ pk, sk }: ItemKey, condition: Condition): Promise<boolean> {
    const { documents, tableName } = this.#options;
    const key = toRaw({ pk, sk });
    const command = new DeleteItemCommand({ TableName: tableName, Key: key, ...toInput(condition) });
    return this.#write({ pk, sk }, () => documents.send(command));
  }

  async #write(key: ItemKey, send: () => Promise<unknown>): Promise<boolean> {
    try {
      return await isMet(send);
    } finally {
      this.#ahead.forget(key);
    }
  }

  /** Begins the read that {@link readToWrite} will need. */
  readAhead(place: ReadPlace): void {
    this.#ahead.begin(place, () => this.#read(place));
  }

  /**
   * The items of a place as they are, or as they were when they were read ahead. For a writer whose condition is that they were not written
   * since, and which reads again when it is refused.
   */
  async readToWrite(place: ReadPlace): Promise<readonly RawItem[]> {
    return (await this.#ahead.find(place)) ?? (await this.#read(place));
  }

  async #read(place: ReadPlace): Promise<readonly RawItem[]> {
    if ('sk' in place) {
      const { documents, tableName } = this.#options;
      const get = { TableName: tableName, Key: toRaw({ ...place }), ConsistentRead: true };
      const { Item: found } = await documents.send(new GetItemCommand(get));
      return found === undefined ? [] : [found];
    }
    const pages = await Array.fromAsync(this.queryRawPages({ ...place, consistent: true }));
    return pages.flat();
  }

  /** The items of a partition in the order of their sort keys, page by page. The next page is requested before one is used. */
  async *queryPages(query: PartitionQuery): AsyncGenerator<readonly Item[]> {
    for await (const items of this.queryRawPages(query)) yield items.map(fromRaw);
  }

  /** The same without decoding: for thousands of items the SDK's decoder takes longer than everything else. */
  async *queryRawPages(query: PartitionQuery): AsyncGenerator<readonly RawItem[]> {
    const { documents, tableName } = this.#options;
    const input = toQueryInput(query, tableName);
    const first = query.after === undefined ? undefined : toRaw({ pk: query.pk, sk: query.after });
    yield* paginate((next) => {
      const start = next ?? first;
      return documents.send(new QueryCommand({ ...input, ...(start && { ExclusiveStartKey: start }) }));
    });
  }

  /** The same without decoding, sorted by sort key. */
  async getRawBatch(
    keys: readonly ItemKey[],
    { consistent }: { consistent: boolean },
  ): Promise<readonly RawItem[]> {
    const { documents, tableName } = this.#options;
    const found: RawItem[] = [];
    const all = keys.map(({ pk, sk }): Record<string, AttributeValue> => ({ pk: { S: pk }, sk: { S: sk } }));
    await forEachConcurrently(toSlices(all, batchSize), concurrency, (slice) =>
      this.#untilProcessed(slice, async (left) => {
        const request = { Keys: [...left], ConsistentRead: consistent };
        const answer = await documents.send(
          new BatchGetItemCommand({ RequestItems: { [tableName]: request } }),
        );
        found.push(...(answer.Responses?.[tableName] ?? []));
        return answer.UnprocessedKeys?.[tableName]?.Keys ?? [];
      }),
    );
    return found.sort((one, other) => compareText(one['sk']?.S ?? '', other['sk']?.S ?? ''));
  }

  /** The existing items of these keys, in any order. */
  async getBatch(
    keys: readonly ItemKey[],
    { consistent }: { consistent: boolean },
  ): Promise<readonly Item[]> {
    return (await this.getRawBatch(keys, { consistent })).map(fromRaw);
  }

  /** Sends again what DynamoDB left unprocessed, as it does when it is asked for too much at once. */
  async #untilProcessed<T>(
    all: readonly T[],
    send: (left: readonly T[]) => Promise<readonly T[]>,
  ): Promise<void> {
    const { clock, randomness } = this.#options;
    let left = await send(all);
    for (let attempt = 1; left.length > 0; attempt += 1) {
      if (attempt === batchAttemptsMax) {
        throw new Error(`DynamoDB left out ${left.length} of ${all.length} items ${attempt} times`);
      }
      await clock.sleep(getPauseMs(backOff, attempt, randomness));
      left = await send(left);
    }
  }
}

async function* paginate(
  send: (start: RawItem | undefined) => Promise<QueryCommandOutput>,
): AsyncGenerator<readonly RawItem[]> {
  let coming: Promise<QueryCommandOutput> | undefined = send(undefined);
  while (coming !== undefined) {
    const page: QueryCommandOutput = await coming;
    coming = page.LastEvaluatedKey === undefined ? undefined : send(page.LastEvaluatedKey);
    // A caller that stops here does not wait for the next page.
    coming?.catch(() => undefined);
    if (page.Items !== undefined && page.Items.length > 0) yield page.Items;
  }
}

function toQueryInput(
  { pk, prefix, range, consistent, attributes, filter }: PartitionQuery,
  tableName: string,
) {
  const bounds = range && { ':from': range.from, ':to': range.to };
  const values = { ':pk': pk, ...(prefix && { ':prefix': prefix }), ...bounds, ...filter?.values };
  const names = (attributes ?? []).map((name): [string, string] => [`#${name}`, name]);
  return {
    TableName: tableName,
    KeyConditionExpression: toKeyCondition({ prefix, range }),
    ConsistentRead: consistent,
    ExpressionAttributeValues: toRaw(values),
    ...(filter && { FilterExpression: filter.expression }),
    ...(names.length > 0 && {
      ProjectionExpression: names.map(([placeholder]) => placeholder).join(', '),
      ExpressionAttributeNames: Object.fromEntries(names),
    }),
  };
}

function toKeyCondition({ prefix, range }: Pick<PartitionQuery, 'prefix' | 'range'>): string {
  if (range !== undefined) return 'pk = :pk AND sk BETWEEN :from AND :to';
  return prefix ? 'pk = :pk AND begins_with(sk, :prefix)' : 'pk = :pk';
}

function toInput({ expression, values }: Condition) {
  return {
    ConditionExpression: expression,
    ...(values && { ExpressionAttributeValues: toRaw(values) }),
  };
}

async function isMet(send: () => Promise<unknown>): Promise<boolean> {
  try {
    await send();
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw toItemError(error);
  }
}

/** DynamoDB has no error code of its own for an item of more than 400 KB. */
function toItemError(error: unknown): unknown {
  if (!(error instanceof Error) || error.name !== 'ValidationException') return error;
  return /item size/i.test(error.message) ? new ItemTooLargeError(error.message, { cause: error }) : error;
}

function toSlices<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}
