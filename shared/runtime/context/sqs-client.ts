import { SQSClient } from '@aws-sdk/client-sqs';
import type { Config } from '../config.ts';
import { finishClient, toClientOptions } from './aws-clients.ts';

let sqs: SQSClient | undefined;

/** The process's client of SQS. What it sends can be done without: others send again what is missing. */
export function openSqs(config: Config): SQSClient {
  sqs ??= finishClient(new SQSClient(toClientOptions(config, 'request')), 'request');
  return sqs;
}
