import { SQSClient } from '@aws-sdk/client-sqs';
import { toClientOptions, withoutCallLog } from './aws-clients.ts';
import type { Config } from './config.ts';

let sqs: SQSClient | undefined;

/** The process's client of SQS. */
export function openSqs(config: Config): SQSClient {
  sqs ??= withoutCallLog(new SQSClient(toClientOptions(config)));
  return sqs;
}
