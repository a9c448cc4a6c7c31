import type { BusClient } from '../aws/event-bus.ts';
import type { QueueClient } from '../aws/queue-client.ts';
import type { StoreClient } from '../aws/table.ts';

/**
 * What sends commands to AWS services that stand in the process of an installation: without a network, and so without signatures, repeats and
 * time-outs. Those that are missing are reached over the network.
 */
export interface DirectServices {
  readonly dynamodb?: StoreClient;
  readonly sqs?: QueueClient;
  readonly eventbridge?: BusClient;
}
