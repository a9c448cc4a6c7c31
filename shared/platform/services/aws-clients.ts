import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { type CallTimeouts, createRetryStrategy, limitCalls } from '../aws/call-limit.ts';
import { tellTime } from '../aws/service-time.ts';
import { ItemTable, type StoreClient } from '../aws/table.ts';
import type { Endpoints } from '../config.ts';
import { openBase } from './base.ts';
import type { Services } from './services.ts';
import { getMachineClock, openStoreClock } from './store-clock.ts';
import { systemClock, systemRandomness } from './system.ts';

/** How long calls to AWS may take, by what waits for them. Only clients repeat calls: `triesMax` is the most that a service gets. */
export const callTimeouts = {
  /** A caller, or other work, waits: an unavailable service must be noticed soon. */
  request: { connectMs: 1_000, tryMs: 2_000, triesMax: 2, pauseMs: 100, callMs: 4_500 },
  /** What a worker reads and writes while it holds a lease: it waits out throttles. */
  work: { connectMs: 3_000, tryMs: 6_000, triesMax: 4, callMs: 30_000 },
  /** Events: only single entries are repeated, by `publishTriesMax`. */
  bus: { connectMs: 1_000, tryMs: 2_000, triesMax: 1, callMs: 2_500 },
} as const satisfies { readonly [kind: string]: CallTimeouts };

/** What waits for a call. */
export type CallKind = keyof typeof callTimeouts;

/** The region of the local engines. */
const localRegion = 'us-east-1';

/** The service of a client, and what waits for its calls. */
export interface ClientUse {
  readonly service: keyof Endpoints;
  readonly kind: CallKind;
}

/** The options of an AWS client. */
export function toClientOptions(services: Services, { service, kind }: ClientUse) {
  const { engineCredentials: credentials, endpoints } = openBase(services).config;
  const endpoint = endpoints[service];
  const timeouts: CallTimeouts = callTimeouts[kind];
  return {
    requestHandler: {
      connectionTimeout: timeouts.connectMs,
      requestTimeout: timeouts.tryMs,
      // For an answer that has begun: an idle connection is not to be kept.
      socketTimeout: timeouts.tryMs,
      throwOnRequestTimeout: true,
    },
    maxAttempts: timeouts.triesMax,
    // No step is added after a client is made: ordering them for each call would take a tenth of it.
    cacheMiddleware: true,
    ...(timeouts.pauseMs !== undefined && { retryStrategy: createRetryStrategy(timeouts, systemRandomness) }),
    ...(credentials && { region: localRegion, credentials }),
    // The installation's own: the process may run others, but has one environment.
    ...(endpoint !== undefined && { endpoint }),
  };
}

/** The client of DynamoDB for calls of a kind, shared by all stores: they share its connections. */
export function openDocuments(services: Services, kind: CallKind): StoreClient {
  return services.direct.dynamodb ?? services.get(createDocuments, kind);
}

/** A table and the clock of its items, as stores take them. @param kind who waits for its calls; default: somebody does */
export function openTable(services: Services, name: 'tasks' | 'cache', kind: CallKind = 'request') {
  const { config, clock } = openBase(services);
  return { table: new ItemTable(openDocuments(services, kind), config[`${name}Table`]), clock };
}

function createDocuments(services: Services, kind: CallKind): DynamoDBClient {
  const clock = openStoreClock(services);
  const use: ClientUse = { service: 'dynamodb', kind };
  const client = finishClient(new DynamoDBClient(toClientOptions(services, use)), use);
  services.closeLater(() => client.destroy());
  const machine = getMachineClock(services);
  tellTime(client, { now: () => machine.now(), take: (told) => clock.take(told) });
  return client;
}

/** The part of a client through which its sending can be changed. */
type AdjustableClient = Parameters<typeof limitCalls>[0] & {
  readonly middlewareStack: { remove(name: string): boolean };
};

/**
 * Limits the time of a client's calls, and removes its log: the SDK copies each request and answer, value by value, for a logger, and we
 * give it none. The remaining steps are needed, such as the retries, and the one that passes on the trace of a Lambda invocation.
 */
export function finishClient<C extends AdjustableClient>(client: C, { kind }: Pick<ClientUse, 'kind'>): C {
  client.middlewareStack.remove('loggerMiddleware');
  return limitCalls(client, { ...callTimeouts[kind], clock: systemClock });
}
