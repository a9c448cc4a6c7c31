import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { SQSClient } from '@aws-sdk/client-sqs';
import { queues } from '#functions/queues.ts';
import { routes } from '#functions/routes.ts';
import { schedules } from '#functions/schedules.ts';
import { toQueueUrl } from '#infra/local/engines/sqs/queue-engine.ts';
import { startHttp } from '#infra/server/front-door/http.ts';
import { toEventSources } from '#infra/server/functions/event-sources.ts';
import { loadHandler } from '#infra/server/functions/handlers.ts';
import { Invoker } from '#infra/server/functions/invoker.ts';
import { localRegion } from '#infra/server/functions/local-aws.ts';
import { offerResponseStreaming } from '#infra/server/functions/response-streaming.ts';
import { startScheduler } from '#infra/server/functions/scheduler.ts';
import { startWorkers } from '#infra/server/functions/workers.ts';
import { readConfig } from '#platform/config.ts';
import { createLogger } from '#platform/services/logger.ts';
import { systemClock } from '#platform/services/system.ts';

/** What a process of functions tells once it serves the API. */
export interface FunctionsMessage {
  readonly url: string;
}

/** What it tells when it gets the signal SIGUSR2: what is in use of its heap. */
export interface HeapMessage {
  readonly heapBytes: number;
}

/**
 * Every function of Busdriver in one process, as `npm start` runs them, on engines that are somewhere else: those that the
 * environment names, as Lambda's would. The argument is the number of seconds between two runs of a scheduled function.
 */
async function main(scheduleSeconds: number): Promise<void> {
  const config = readConfig();
  const { engineCredentials: credentials, operationsQueueUrl } = config;
  if (credentials === undefined) throw new Error('The laboratory runs functions on local engines alone');
  const log = createLogger(config);
  const invoker = new Invoker(loadHandler, log);
  offerResponseStreaming();
  const http = await startHttp({ routes, invoker, log, host: '127.0.0.1', port: 0, allowedHosts: [] });
  const { origin: endpoint } = new URL(operationsQueueUrl);
  const sqs = new SQSClient({ endpoint, region: localRegion, credentials });
  const sources = toEventSources(queues, (name) => toQueueUrl(name, endpoint));
  startWorkers({ sources, sqs, invoker, log });
  const often = schedules.map((schedule) => ({ ...schedule, rateMinutes: scheduleSeconds / 60 }));
  startScheduler({ schedules: often, invoker, clock: systemClock });
  const message: FunctionsMessage = { url: http.url };
  process.send?.(message);
}

function tellHeap(): void {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  const message: HeapMessage = { heapBytes: process.memoryUsage().heapUsed };
  process.send?.(message);
}

process.on('SIGUSR2', tellHeap);
// Whoever started it is gone, however that came.
process.once('disconnect', () => process.exit());
await main(Number(process.argv[2]));
