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
import type { SdkClasses } from '../direct-client.ts';

/** What of DynamoDB's SDK is used. */
export const tableClasses: SdkClasses = {
  actions: new Map<unknown, string>([
    [BatchGetItemCommand, 'BatchGetItem'],
    [DeleteItemCommand, 'DeleteItem'],
    [GetItemCommand, 'GetItem'],
    [PutItemCommand, 'PutItem'],
    [QueryCommand, 'Query'],
    [ScanCommand, 'Scan'],
    [UpdateItemCommand, 'UpdateItem'],
  ]),
  errors: {
    ConditionalCheckFailedException: (message) =>
      new ConditionalCheckFailedException({ message, $metadata: {} }),
  },
};
