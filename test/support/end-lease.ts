import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { getHeaderKey } from '../../shared/aws/tasks/task-items.ts';
import { type Stores, toDynamoDbOptions } from './stores.ts';

/**
 * Lets the lease of a worker end that is surely dead, as time would half a minute later; nothing else of the task changes.
 */
export async function endLease(stores: Stores, taskId: string): Promise<void> {
  const client = new DynamoDBClient(toDynamoDbOptions(stores));
  try {
    await DynamoDBDocumentClient.from(client).send(
      new UpdateCommand({
        TableName: stores.tasksTable,
        Key: getHeaderKey(taskId),
        UpdateExpression: 'SET leaseUntil = :past',
        ConditionExpression: 'attribute_exists(pk)',
        ExpressionAttributeValues: { ':past': 0 },
      }),
    );
  } finally {
    client.destroy();
  }
}
