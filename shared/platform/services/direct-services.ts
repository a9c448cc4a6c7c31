import type { BusClient } from '../aws/event-bus.ts';
import type { QueueClient } from '../aws/queue-client.ts';
import type { StoreClient } from '../aws/table.ts';

/** Clients of AWS services in this process, which need no network, signature, retry or time-out. Others are reached over the network. */
export interface DirectServices {
  readonly dynamodb?: StoreClient;
  readonly sqs?: QueueClient;
  readonly eventbridge?: BusClient;
}
