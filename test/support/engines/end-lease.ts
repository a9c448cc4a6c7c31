import { ConditionalCheckFailedException, DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { toRaw } from '#platform/aws/table.ts';
import { getHeaderKey } from '#tasks/aws/task-items.ts';
import { leaseDurationMs } from '#tasks/task.ts';
import { type Stores, toDynamoDbOptions } from './stores.ts';

/** Whose leases end. */
export interface DeadWorkers {
  /** Wall time at which the last of them was dead, milliseconds. A lease that was taken since stays. Default: there is no other. */
  readonly diedAtMs?: number;
}

/**
 * Lets the lease of a worker end that is surely dead, as time would half a minute later; nothing else of the task changes.
 */
export async function endLease(
  stores: Stores,
  taskId: string,
  { diedAtMs = Number.MAX_SAFE_INTEGER }: DeadWorkers = {},
): Promise<void> {
  const client = new DynamoDBClient(toDynamoDbOptions(stores));
  try {
    await client.send(
      new UpdateItemCommand({
        TableName: stores.tasksTable,
        Key: toRaw({ ...getHeaderKey(taskId) }),
        UpdateExpression: 'SET leaseUntil = :past',
        ConditionExpression:
          'attribute_exists(pk) AND (attribute_not_exists(leaseUntil) OR leaseUntil <= :last)',
        ExpressionAttributeValues: toRaw({
          ':past': 0,
          ':last': Math.min(diedAtMs + leaseDurationMs, Number.MAX_SAFE_INTEGER),
        }),
      }),
    );
  } catch (error) {
    if (diedAtMs === Number.MAX_SAFE_INTEGER || !(error instanceof ConditionalCheckFailedException))
      throw error;
  } finally {
    client.destroy();
  }
}
