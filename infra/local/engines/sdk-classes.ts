import {
  BatchGetItemCommand,
  ConditionalCheckFailedException,
  DeleteItemCommand,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { PutEventsCommand } from '@aws-sdk/client-eventbridge';
import {
  ChangeMessageVisibilityCommand,
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
} from '@aws-sdk/client-sqs';

/** What of the SDK is used: names of actions by the classes of their commands, which a bundle may name otherwise. */
export const sdkActions: ReadonlyMap<unknown, string> = new Map<unknown, string>([
  [BatchGetItemCommand, 'BatchGetItem'],
  [DeleteItemCommand, 'DeleteItem'],
  [GetItemCommand, 'GetItem'],
  [PutItemCommand, 'PutItem'],
  [QueryCommand, 'Query'],
  [ScanCommand, 'Scan'],
  [UpdateItemCommand, 'UpdateItem'],
  [PutEventsCommand, 'PutEvents'],
  [ChangeMessageVisibilityCommand, 'ChangeMessageVisibility'],
  [CreateQueueCommand, 'CreateQueue'],
  [DeleteMessageBatchCommand, 'DeleteMessageBatch'],
  [ReceiveMessageCommand, 'ReceiveMessage'],
  [SendMessageBatchCommand, 'SendMessageBatch'],
  [SendMessageCommand, 'SendMessage'],
]);

/** A refusal as the SDK throws it where it is caught by its class; undefined for others. */
export function toKnownError(code: string, message: string): Error | undefined {
  if (code !== 'ConditionalCheckFailedException') return undefined;
  return new ConditionalCheckFailedException({ message, $metadata: {} });
}
