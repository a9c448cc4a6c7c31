import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { ItemTable } from '#platform/aws/table.ts';
import { getOpenKey, openShards } from '#tasks/aws/task-items.ts';
import { type Stores, toDynamoDbOptions } from './stores.ts';

/** Sort keys of all rows in the list of open tasks, whether or not a task is behind them. */
export async function listOpenRows(stores: Stores): Promise<string[]> {
  const client = new DynamoDBClient(toDynamoDbOptions(stores));
  try {
    const table = new ItemTable(client, stores.tasksTable);
    const shards = Array.from({ length: openShards }, (_, shard) => table.query(getOpenKey(shard)));
    return (await Promise.all(shards)).flat().map((item) => String(item['sk']));
  } finally {
    client.destroy();
  }
}
