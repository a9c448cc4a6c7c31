import type { SQSClient } from '@aws-sdk/client-sqs';

/** What sends commands to SQS. */
export type QueueClient = Pick<SQSClient, 'send'>;
