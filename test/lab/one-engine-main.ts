import { SQSClient } from '@aws-sdk/client-sqs';
import { queues } from '#functions/queues.ts';
import { createQueues } from '#infra/server/functions/event-sources.ts';
import { tables } from '#platform/aws/tables.ts';
import { createLogger } from '#platform/services/logger.ts';
import { startDynamoDb, startEventBridge, startSqs } from '#test/support/engines/engine-servers.ts';

export interface OneEngineMessage {
  readonly url: string;
}

/**
 * One service in a process of its own. The arguments are `dynamodb` with the folder of its data, `sqs`, or `eventbridge` with the name of the bus; and a
 * port, 0 for any free one.
 */
async function main([service, place = '', port = '0']: readonly string[]): Promise<void> {
  const { url } = await start(service, place, Number(port));
  const message: OneEngineMessage = { url };
  process.send?.(message);
}

async function start(
  service: string | undefined,
  place: string,
  port: number,
): Promise<{ readonly url: string }> {
  const log = createLogger({ logLevel: 'WARN', placement: 'local' });
  if (service === 'dynamodb') return startDynamoDb({ dir: place, tables, log, port });
  if (service === 'eventbridge') return startEventBridge({ buses: [place] });
  const sqs = await startSqs(port);
  await createQueues(new SQSClient(sqs.clientOptions), queues);
  return sqs;
}

// Whoever started it is gone, however that came.
process.once('disconnect', () => process.exit());
await main(process.argv.slice(2));
