import type { BusClient } from '../aws/event-bus.ts';
import type { QueueClient } from '../aws/queue-client.ts';
import type { StoreClient } from '../aws/table.ts';

/**
 * Clients of AWS services inside an installation's process: without a network, and so without signatures, retries and time-outs. Missing
 * ones are reached over the network.
 */
export interface DirectServices {
  readonly dynamodb?: StoreClient;
  readonly sqs?: QueueClient;
  readonly eventbridge?: BusClient;
}
