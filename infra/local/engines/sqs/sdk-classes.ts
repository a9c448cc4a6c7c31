import {
  ChangeMessageVisibilityCommand,
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
} from '@aws-sdk/client-sqs';
import type { SdkClasses } from '../direct-client.ts';

/** What of SQS' SDK is used. */
export const queueClasses: SdkClasses = {
  actions: new Map<unknown, string>([
    [ChangeMessageVisibilityCommand, 'ChangeMessageVisibility'],
    [CreateQueueCommand, 'CreateQueue'],
    [DeleteMessageBatchCommand, 'DeleteMessageBatch'],
    [ReceiveMessageCommand, 'ReceiveMessage'],
    [SendMessageBatchCommand, 'SendMessageBatch'],
    [SendMessageCommand, 'SendMessage'],
  ]),
};
