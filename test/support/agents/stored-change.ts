import { ConditionalCheckFailedException, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { ItemKey } from '#platform/aws/table.ts';
import { type Stores, toDynamoDbOptions } from '../engines/stores.ts';

/** A change of an item behind Busdriver's back, as time or another release would make it. */
export interface StoredChange {
  readonly tableName: string;
  readonly key: ItemKey;
  readonly attribute: string;
  readonly value: number | readonly string[];
  /** Nothing is changed unless this attribute contains a text. */
  readonly onlyIf?: { readonly attribute: string; readonly contains: string };
}

/** Makes changes. */
export async function changeStored(stores: Stores, changes: readonly StoredChange[]): Promise<void> {
  const client = new DynamoDBClient(toDynamoDbOptions(stores));
  const documents = DynamoDBDocumentClient.from(client);
  try {
    await Promise.all(changes.map((change) => changeOne(documents, change)));
  } finally {
    client.destroy();
  }
}

async function changeOne(documents: DynamoDBDocumentClient, change: StoredChange): Promise<void> {
  const { tableName: TableName, key: Key, attribute, value, onlyIf } = change;
  const looked = onlyIf?.attribute ?? 'pk';
  const { Item } = await documents.send(new GetCommand({ TableName, Key, ConsistentRead: true }));
  const found = Item?.[looked];
  if (onlyIf && !String(found ?? '').includes(onlyIf.contains)) return;
  const update = new UpdateCommand({
    ...{ TableName, Key, UpdateExpression: 'SET #changed = :value', ConditionExpression: '#looked = :found' },
    ExpressionAttributeNames: { '#changed': attribute, '#looked': looked },
    ExpressionAttributeValues: { ':value': value, ':found': found },
  });
  await documents.send(update).catch((error: unknown) => {
    if (!onlyIf || !(error instanceof ConditionalCheckFailedException)) throw error;
  });
}
