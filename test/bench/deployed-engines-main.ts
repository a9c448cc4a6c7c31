import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { SQSClient } from '@aws-sdk/client-sqs';
import { queues } from '#functions/queues.ts';
import { TableEngine } from '#infra/local/engines/dynamodb/tables.ts';
import type { Engine } from '#infra/local/engines/engine.ts';
import { BusEngine } from '#infra/local/engines/eventbridge/bus-engine.ts';
import { QueueEngine } from '#infra/local/engines/sqs/queue-engine.ts';
import { createQueues } from '#infra/server/functions/event-sources.ts';
import { tables } from '#platform/aws/tables.ts';
import { dialects } from '#test/support/engines/engine-servers.ts';
import { type HttpDialect, serveEngine } from '#test/support/engines/http-engine.ts';
import { silentLog } from '#test/support/engines/silent-log.ts';
import { TableActions } from '#test/support/engines/table-actions.ts';

/** Milliseconds that an answer of AWS takes longer, and that a message takes from its queue to a worker. */
const callMs = 5;
const hopMs = 20;

/** Where the services of the process are. */
export type DelayedEngines = {
  readonly [service in 'dynamodb' | 'sqs' | 'eventbridge' | 'secretsManager']: string;
};

/** A call of one of them, in milliseconds since the process began. */
export interface EngineCall {
  /** Such as `PutItem`. */
  readonly action: string;
  /** Undefined for batches, and for services that have none. */
  readonly table: string | undefined;
  readonly startMs: number;
  /** When it was answered. */
  readonly endMs: number;
}

/** Those since somebody last asked. */
const calls: EngineCall[] = [];

/** Services as far away as in AWS. The arguments are a file for the tables, the name of the bus, and a file with what each secret holds. */
async function main([file = '', busName = '', secretFile = '']: readonly string[]): Promise<void> {
  const tableEngine = new TableEngine({ file, tables, log: silentLog });
  const SecretString = await readFile(secretFile, 'utf8');
  const secrets = { perform: async () => ({ VersionId: 'v1', SecretString }) };
  const secretsDialect = { version: '1.1', errorNamespace: 'com.amazonaws.secretsmanager' } as const;
  const sqs = await serve(dialects.sqs, (url) => new QueueEngine({ url }));
  await createQueues(new SQSClient(sqs.clientOptions), queues);
  const engines: DelayedEngines = {
    sqs: sqs.url,
    dynamodb: (await serve(dialects.dynamodb, () => new TableActions(tableEngine))).url,
    eventbridge: (await serve(dialects.eventbridge, () => new BusEngine([busName]))).url,
    secretsManager: (await serve(secretsDialect, () => secrets)).url,
  };
  process.send?.(engines);
}

type Service = Pick<Engine, 'perform'>;

/** Serves an engine whose answers come later, refusals too. */
function serve(dialect: HttpDialect, open: (url: string) => Service) {
  return serveEngine({ dialect, open: (url) => ({ perform: createDelay(open(url)) }) });
}

function createDelay(engine: Service): Service['perform'] {
  return async (action, input, options) => {
    const startMs = performance.now();
    let awayMs = callMs;
    try {
      const output = await engine.perform(action, input, options);
      // A poll waits at the queue: what takes its time is the way from there.
      if (action === 'ReceiveMessage') awayMs = 'Messages' in output ? hopMs : 0;
      return output;
    } finally {
      await sleep(awayMs);
      const { TableName: table } = input as { readonly TableName?: string };
      calls.push({ action, table, startMs, endMs: performance.now() });
    }
  };
}

process.on('message', () => process.send?.(calls.splice(0)));
// Whoever started it is gone, however that came.
process.once('disconnect', () => process.exit());
await main(process.argv.slice(2));
