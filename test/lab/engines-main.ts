import { randomBytes } from 'node:crypto';
import { SQSClient } from '@aws-sdk/client-sqs';
import { queues } from '#functions/queues.ts';
import type { BusEvent } from '#infra/local/engines/eventbridge/bus-events.ts';
import type { Engines } from '#infra/local/environment.ts';
import { createQueues } from '#infra/server/functions/event-sources.ts';
import { tables } from '#platform/aws/tables.ts';
import type { EngineCredentials } from '#platform/config.ts';
import { createLogger } from '#platform/services/logger.ts';
import { startDynamoDb, startEventBridge, startSqs } from '#test/support/engines/engine-servers.ts';

/** What the process of the engines tells: first where they are, then each event that the bus delivers. */
export type EnginesMessage =
  | { readonly engines: Engines; readonly credentials: EngineCredentials }
  | { readonly event: BusEvent };

/**
 * Seconds for which a received message stays hidden. The queues' own 6 to 16 minutes would have the laboratory wait for the messages
 * that killed workers had.
 */
const visibilityTimeoutSeconds = 60;

/** The engines take any: these are looked for afterwards in whatever could show them. */
const credentials = {
  accessKeyId: randomBytes(10).toString('hex'),
  secretAccessKey: randomBytes(20).toString('hex'),
};

/** The local DynamoDB, SQS and EventBridge in a process of their own. The arguments are the folder of the data and the name of the bus. */
async function main([dir = '', busName = '']: readonly string[]): Promise<void> {
  const log = createLogger({ logLevel: 'WARN', placement: 'local' });
  const dynamodb = await startDynamoDb({ dir, tables, log });
  const sqs = await startSqs();
  await createQueues(
    new SQSClient(sqs.clientOptions),
    queues.map((queue) => ({ ...queue, visibilityTimeoutSeconds })),
  );
  const eventbridge = await startEventBridge({ buses: [busName], onEvent: (event) => tell({ event }) });
  const engines = { dynamodb: dynamodb.url, sqs: sqs.url, eventbridge: eventbridge.url };
  tell({ engines, credentials });
}

function tell(message: EnginesMessage): void {
  process.send?.(message);
}

// Whoever started it is gone, however that came.
process.once('disconnect', () => process.exit());
await main(process.argv.slice(2));
