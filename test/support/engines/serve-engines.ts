import { subscribe } from 'node:diagnostics_channel';
import type { LocalEngines } from '#infra/local/local-engines.ts';
import { dialects, openEventsPage } from './engine-servers.ts';
import { serveEngine } from './http-engine.ts';
import { TableActions } from './table-actions.ts';

/** What a process with this module tells over IPC before it is ready: where its engines answer. */
export interface EnginesMessage {
  readonly engines: { readonly [service in 'dynamodb' | 'sqs' | 'eventbridge']: string };
}

/**
 * Preloaded into `npm start` (`node --import`), so that a test looks inside: serves its engines, to which nothing of it listens otherwise,
 * and tells where.
 */
subscribe('busdriver:engines', (message) => void serve(message as LocalEngines));

async function serve({ dynamodb, sqs, eventbridge }: LocalEngines): Promise<void> {
  const servers = await Promise.all([
    serveEngine({ dialect: dialects.dynamodb, open: () => new TableActions(dynamodb) }),
    serveEngine({ dialect: dialects.sqs, open: () => sqs }),
    serveEngine({
      ...{ dialect: dialects.eventbridge, open: () => eventbridge, pages: openEventsPage(eventbridge) },
    }),
  ]);
  const [tables, queues, bus] = servers.map(({ url }) => url);
  process.send?.({ engines: { dynamodb: tables, sqs: queues, eventbridge: bus } });
}
