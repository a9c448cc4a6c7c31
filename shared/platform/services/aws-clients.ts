import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { type CallTimeouts, createRetryStrategy, limitCalls } from '../aws/call-limit.ts';
import { tellTime } from '../aws/service-time.ts';
import { ItemTable, type StoreClient } from '../aws/table.ts';
import type { Endpoints } from '../config.ts';
import { openBase } from './base.ts';
import type { Services } from './services.ts';
import { getMachineClock, openStoreClock } from './store-clock.ts';
import { systemClock, systemRandomness } from './system.ts';

/**
 * How long calls of AWS' services may take, by what waits for them. Nothing repeats a call besides its client, so `triesMax` is what a
 * service is asked at most.
 */
export const callTimeouts = {
  /** Somebody waits for an answer, or other work does: it must be known soon that a service is away. */
  request: { connectMs: 1_000, tryMs: 2_000, triesMax: 2, pauseMs: 100, callMs: 4_500 },
  /** What a worker reads and writes while it holds a lease: a throttle is waited out. */
  work: { connectMs: 3_000, tryMs: 6_000, triesMax: 4, callMs: 30_000 },
  /** Events: what is repeated there are single entries, by `publishTriesMax`. */
  bus: { connectMs: 1_000, tryMs: 2_000, triesMax: 1, callMs: 2_500 },
} as const satisfies { readonly [kind: string]: CallTimeouts };

/** Who waits for a call. */
export type CallKind = keyof typeof callTimeouts;

/** The region that the local engines are in. */
const localRegion = 'us-east-1';

/** Of which service a client is, and who waits for its calls. */
export interface ClientUse {
  readonly service: keyof Endpoints;
  readonly kind: CallKind;
}

/** What the client of an AWS service is made with. */
export function toClientOptions(services: Services, { service, kind }: ClientUse) {
  const { engineCredentials: credentials, endpoints } = openBase(services).config;
  const endpoint = endpoints[service];
  const timeouts: CallTimeouts = callTimeouts[kind];
  return {
    requestHandler: {
      connectionTimeout: timeouts.connectMs,
      requestTimeout: timeouts.tryMs,
      // Of an answer that has begun: a connection that stands still is not to be kept.
      socketTimeout: timeouts.tryMs,
      throwOnRequestTimeout: true,
    },
    maxAttempts: timeouts.triesMax,
    // Nothing adds a step once a client is made: to put them in order for each call would take a tenth of it.
    cacheMiddleware: true,
    ...(timeouts.pauseMs !== undefined && { retryStrategy: createRetryStrategy(timeouts, systemRandomness) }),
    ...(credentials && { region: localRegion, credentials }),
    // Of the installation: the process may run others, and has one environment.
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

/** As far as a client's way of sending can be changed. */
type AdjustableClient = Parameters<typeof limitCalls>[0] & {
  readonly middlewareStack: { remove(name: string): boolean };
};

/**
 * Limits the time of a client's calls, and takes their log away: the SDK copies each request and answer, value by value, for a logger;
 * we give it none. What is left of its steps is needed: among them are the retries, and the one that passes the trace of a Lambda
 * invocation on.
 */
export function finishClient<C extends AdjustableClient>(client: C, { kind }: Pick<ClientUse, 'kind'>): C {
  client.middlewareStack.remove('loggerMiddleware');
  return limitCalls(client, { ...callTimeouts[kind], clock: systemClock });
}
