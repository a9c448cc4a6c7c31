import { SQSClient } from '@aws-sdk/client-sqs';
import type { QueueClient } from '../aws/queue-client.ts';
import { type ClientUse, finishClient, toClientOptions } from './aws-clients.ts';
import type { Services } from './services.ts';

/** The client of SQS. Its messages may be lost: others send missing ones again. */
export function openSqs(services: Services): QueueClient {
  return services.direct.sqs ?? services.get(createSqs);
}

function createSqs(services: Services): SQSClient {
  const use: ClientUse = { service: 'sqs', kind: 'request' };
  const client = finishClient(new SQSClient(toClientOptions(services, use)), use);
  services.closeLater(() => client.destroy());
  return client;
}
