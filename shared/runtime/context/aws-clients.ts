import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { type CallPatience, createRetryStrategy, limitCalls } from '../../aws/call-limit.ts';
import { tellTime } from '../../aws/service-time.ts';
import type { Config } from '../config.ts';
import { storeClock } from './store-clock.ts';
import { systemClock } from './system.ts';

/**
 * How patient calls of AWS' services are, by who waits for them. Nothing repeats a call besides its client, so `triesMax` is what a
 * service is asked at most.
 */
export const callPatience = {
  /** Somebody waits for an answer, or other work does: it must be known soon that a service is away. */
  request: { connectMs: 1_000, tryMs: 2_000, triesMax: 2, pauseMs: 100, callMs: 4_500 },
  /** What a worker reads and writes while it holds a lease: a throttle is waited out. */
  work: { connectMs: 3_000, tryMs: 6_000, triesMax: 4, callMs: 30_000 },
  /** Events: what is repeated there are single entries, by `publishTriesMax`. */
  bus: { connectMs: 1_000, tryMs: 2_000, triesMax: 1, callMs: 2_500 },
} as const satisfies { readonly [kind: string]: CallPatience };

/** Who waits for a call. */
export type CallKind = keyof typeof callPatience;

/** The region that the local engines are in. */
const localRegion = 'us-east-1';

const documents = new Map<CallKind, DynamoDBDocumentClient>();

/** What each client of an AWS service is made with. */
export function toClientOptions(
  { engineCredentials: credentials }: Pick<Config, 'engineCredentials'>,
  kind: CallKind,
) {
  const patience: CallPatience = callPatience[kind];
  return {
    requestHandler: {
      connectionTimeout: patience.connectMs,
      requestTimeout: patience.tryMs,
      // Of an answer that has begun: a connection that stands still is not to be kept.
      socketTimeout: patience.tryMs,
      throwOnRequestTimeout: true,
    },
    maxAttempts: patience.triesMax,
    ...(patience.pauseMs !== undefined && { retryStrategy: createRetryStrategy(patience) }),
    ...(credentials && { region: localRegion, credentials }),
  };
}

/** The process's client of DynamoDB for calls of a kind, shared by all stores: they share its connections. */
export function openDocuments(config: Config, kind: CallKind): DynamoDBDocumentClient {
  const opened = documents.get(kind) ?? createDocuments(config, kind);
  documents.set(kind, opened);
  return opened;
}

function createDocuments(config: Config, kind: CallKind): DynamoDBDocumentClient {
  const client = finishClient(new DynamoDBClient(toClientOptions(config, kind)), kind);
  tellTime(client, { now: () => systemClock.now(), take: (told) => storeClock.take(told) });
  return DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
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
export function finishClient<C extends AdjustableClient>(client: C, kind: CallKind): C {
  client.middlewareStack.remove('loggerMiddleware');
  return limitCalls(client, { ...callPatience[kind], clock: systemClock });
}
