import { channel } from 'node:diagnostics_channel';
import path from 'node:path';
import type { Logger } from '#core/logger.ts';
import type { Queue } from '#functions/queues.ts';
import { createQueues } from '#infra/server/functions/event-sources.ts';
import type { Table } from '#platform/aws/tables.ts';
import type { DirectServices } from '#platform/services/direct-services.ts';
import { createDirectClient, type DirectHook } from './engines/direct-client.ts';
import { TableEngine } from './engines/dynamodb/tables.ts';
import { BusEngine } from './engines/eventbridge/bus-engine.ts';
import { QueueEngine } from './engines/sqs/queue-engine.ts';

/** Name of the file of the tables in a data directory. */
export const tablesFileName = 'tables.sqlite';

/** How to start the engines. */
export interface StartLocalEnginesOptions {
  readonly dataDir: string;
  readonly tables: readonly Table[];
  readonly queues: readonly Queue[];
  readonly busName: string;
  readonly log: Logger;
}

/** DynamoDB, SQS and EventBridge of an installation in this process. Disposing ends them. */
export interface LocalEngines extends AsyncDisposable {
  readonly dynamodb: TableEngine;
  readonly sqs: QueueEngine;
  readonly eventbridge: BusEngine;
  /** What calls them. */
  readonly clients: Required<DirectServices>;
  /** Stands around each call of the clients. */
  readonly hook: DirectHook;
}

/** Is told of the engines of each installation of this process, once they have started: tests look inside by it. Nobody else listens. */
const enginesChannel = channel('busdriver:engines');

/** Starts the engines, with the tables in a file of the data directory. @throws Error that says what to do where that cannot be opened */
export async function startLocalEngines(options: StartLocalEnginesOptions): Promise<LocalEngines> {
  const { dataDir, tables, queues, busName, log } = options;
  await using starting = new AsyncDisposableStack();
  const file = path.join(dataDir, tablesFileName);
  const dynamodb = starting.use(new TableEngine({ file, tables, log }));
  const sqs = starting.use(new QueueEngine());
  const eventbridge = starting.use(new BusEngine([busName]));
  const hook: DirectHook = {};
  const clients = toClients({ dynamodb, sqs, eventbridge }, hook);
  await createQueues(clients.sqs, queues);
  const running = starting.move();
  const engines: LocalEngines = {
    ...{ dynamodb, sqs, eventbridge, clients, hook },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
  enginesChannel.publish(engines);
  return engines;
}

/** Clients of the engines, which send what the SDK's would. */
export function toClients(
  { dynamodb, sqs, eventbridge }: Pick<LocalEngines, 'dynamodb' | 'sqs' | 'eventbridge'>,
  hook: DirectHook,
): Required<DirectServices> {
  // The types of the SDK's `send` follow from its commands, which have those of the engines' answers.
  return {
    dynamodb: createDirectClient({ service: 'dynamodb', engine: dynamodb, hook }),
    sqs: createDirectClient({ service: 'sqs', engine: sqs, hook }),
    eventbridge: createDirectClient({ service: 'eventbridge', engine: eventbridge, hook }),
  } as unknown as Required<DirectServices>;
}
