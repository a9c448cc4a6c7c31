import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Logger } from '#core/logger.ts';
import { TableEngine } from '#infra/local/engines/dynamodb/tables.ts';
import type { Engine } from '#infra/local/engines/engine.ts';
import { BusEngine } from '#infra/local/engines/eventbridge/bus-engine.ts';
import type { BusEvent } from '#infra/local/engines/eventbridge/bus-events.ts';
import { QueueEngine } from '#infra/local/engines/sqs/queue-engine.ts';
import { tablesFileName } from '#infra/local/local-engines.ts';
import type { Table } from '#platform/aws/tables.ts';
import { EventArchive } from './event-archive.ts';
import { type EngineServer, type HttpDialect, serveEngine } from './http-engine.ts';
import { silentLog } from './silent-log.ts';
import { TableActions } from './table-actions.ts';
import { fromWire, fromWireTime, toWire } from './wire.ts';

const queryErrorPrefix = 'AWS.SimpleQueueService.';

/** How the services word their answers. */
export const dialects = {
  dynamodb: { version: '1.0', errorNamespace: 'com.amazonaws.dynamodb.v20120810', fromWire, toWire },
  sqs: {
    version: '1.0',
    errorNamespace: 'com.amazonaws.sqs',
    queryErrorCodes: {
      BatchEntryIdsNotDistinct: `${queryErrorPrefix}BatchEntryIdsNotDistinct`,
      BatchRequestTooLong: `${queryErrorPrefix}BatchRequestTooLong`,
      EmptyBatchRequest: `${queryErrorPrefix}EmptyBatchRequest`,
      InvalidBatchEntryId: `${queryErrorPrefix}InvalidBatchEntryId`,
      MessageNotInflight: `${queryErrorPrefix}MessageNotInflight`,
      QueueDoesNotExist: `${queryErrorPrefix}NonExistentQueue`,
      QueueNameExists: 'QueueAlreadyExists',
      TooManyEntriesInBatchRequest: `${queryErrorPrefix}TooManyEntriesInBatchRequest`,
      UnsupportedOperation: `${queryErrorPrefix}UnsupportedOperation`,
    },
  },
  eventbridge: { version: '1.1', errorNamespace: 'com.amazonaws.eventbridge', fromWire: fromWireTime },
} as const satisfies { readonly [service: string]: HttpDialect };

/** How to start DynamoDB. */
export interface StartDynamoDbOptions {
  /** Folder of the file of the tables; made when missing. */
  readonly dir: string;
  /** Tables that must exist. */
  readonly tables: readonly Table[];
  /** Default: nobody is told. */
  readonly log?: Logger;
  /** Default: any free one. */
  readonly port?: number;
}

/** Starts DynamoDB on a free port of 127.0.0.1, as processes of functions find it in AWS. */
export async function startDynamoDb(options: StartDynamoDbOptions): Promise<EngineServer> {
  const { dir, tables, log = silentLog, port } = options;
  await mkdir(dir, { recursive: true });
  const engine = new TableEngine({ file: path.join(dir, tablesFileName), tables, log });
  const server = await serveEngine({
    dialect: dialects.dynamodb,
    open: () => new TableActions(engine),
    port,
  });
  return endWith(server, engine);
}

/** Starts SQS on 127.0.0.1. @param port default: any free one */
export async function startSqs(port?: number): Promise<EngineServer> {
  let engine = new QueueEngine();
  const server = await serveEngine({
    dialect: dialects.sqs,
    port,
    open(url) {
      engine = new QueueEngine({ url });
      return engine;
    },
  });
  return endWith(server, engine);
}

/** How to start EventBridge. */
export interface StartEventBridgeOptions {
  /** Buses that there are. */
  readonly buses: readonly string[];
  /** Is told of each event that was put, and on which bus. */
  readonly onEvent?: (event: BusEvent, busName: string) => void;
}

/** Starts EventBridge on a free port of 127.0.0.1. `GET /events` there answers the latest events, `?since=N` those after number N. */
export async function startEventBridge({ buses, onEvent }: StartEventBridgeOptions): Promise<EngineServer> {
  const engine = new BusEngine(buses);
  if (onEvent !== undefined) engine.on('event', onEvent);
  const pages = openEventsPage(engine);
  const server = await serveEngine({ dialect: dialects.eventbridge, open: () => engine, pages });
  return endWith(server, engine);
}

/** A page with the latest events of a bus: a thousand at least. */
export function openEventsPage(bus: Pick<BusEngine, 'on'>) {
  const archive = new EventArchive(1_000);
  bus.on('event', (event, busName) => archive.add(busName, event));
  return {
    '/events': (query: URLSearchParams) => ({ events: archive.list(Number(query.get('since') ?? 0)) }),
  };
}

function endWith(server: EngineServer, engine: Engine): EngineServer {
  return {
    ...server,
    async [Symbol.asyncDispose]() {
      await engine[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}
