import {
  type AttributeValue,
  ConditionalCheckFailedException,
  DeleteItemCommand,
  type DynamoDBClient,
  ScanCommand,
} from '@aws-sdk/client-dynamodb';
import type { Clock } from '#core/clock.ts';
import type { Logger } from '#core/logger.ts';
import type { Table } from '#platform/aws/tables.ts';

/** The first run leaves the start alone, and a session of some minutes still gets one. Milliseconds. */
const firstRunDelayMs = 60_000;

const intervalMs = 60 * 60_000;

/** Items read at a time; between two pages everything else has its turn. */
const pageSize = 100;

/** What sends commands to DynamoDB. */
export type TableClient = Pick<DynamoDBClient, 'send'>;

/** How to delete what has expired. */
export interface StartTableExpiryOptions {
  readonly tables: readonly Table[];
  readonly dynamodb: TableClient;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Deletes expired items once an hour, as DynamoDB's time to live does and the local tables do not: a data folder would grow
 * for ever. Nothing depends on it, for readers filter what is expired.
 */
export function startTableExpiry(options: StartTableExpiryOptions): AsyncDisposable {
  const stopping = new AbortController();
  const ended = repeat(options, stopping.signal);
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await ended;
    },
  };
}

async function repeat(
  { tables, dynamodb, clock, log }: StartTableExpiryOptions,
  signal: AbortSignal,
): Promise<void> {
  const pause = (ms: number) => clock.sleep(ms, signal).catch(() => undefined);
  await pause(firstRunDelayMs);
  while (!signal.aborted) {
    const nowSeconds = Math.floor(clock.now() / 1000);
    try {
      for (const table of tables) await deleteExpired(dynamodb, table, { nowSeconds, signal });
    } catch (error) {
      log.warn('expired items cannot be deleted', { error });
    }
    await pause(intervalMs);
  }
}

interface Run {
  readonly nowSeconds: number;
  readonly signal: AbortSignal;
}

async function deleteExpired(client: TableClient, table: Table, { nowSeconds, signal }: Run): Promise<void> {
  const isExpired = {
    ExpressionAttributeNames: { '#ttl': table.ttlAttribute },
    ExpressionAttributeValues: { ':now': { N: String(nowSeconds) } },
  };
  let from: { [name: string]: AttributeValue } | undefined;
  do {
    const page = await client.send(
      new ScanCommand({
        ...isExpired,
        TableName: table.name,
        FilterExpression: '#ttl < :now',
        Limit: pageSize,
        ...(from && { ExclusiveStartKey: from }),
      }),
    );
    // At once, so that they share a commit.
    const expired = page.Items ?? [];
    await Promise.all(expired.map((item) => deleteItem(client, { ...isExpired, ...toKey(table, item) })));
    from = page.LastEvaluatedKey;
  } while (from !== undefined && !signal.aborted);
}

function toKey({ name, partitionKey, sortKey }: Table, item: { readonly [name: string]: AttributeValue }) {
  const entries = [partitionKey, sortKey].map((key) => [key, item[key]]);
  return { TableName: name, Key: Object.fromEntries(entries) as { [name: string]: AttributeValue } };
}

/** Unless it was renewed meanwhile. */
async function deleteItem(
  client: TableClient,
  input: ConstructorParameters<typeof DeleteItemCommand>[0],
): Promise<void> {
  try {
    await client.send(new DeleteItemCommand({ ...input, ConditionExpression: '#ttl < :now' }));
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
  }
}
