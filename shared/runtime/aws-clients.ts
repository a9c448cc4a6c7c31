import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { Config } from './config.ts';

/** Time-outs of each call to an AWS service, milliseconds. */
const requestHandler = { connectionTimeout: 3_000, requestTimeout: 6_000, throwOnRequestTimeout: true };

/** Attempts of each call to an AWS service: the SDK backs off with jitter between them. */
const maxAttempts = 4;

/**
 * Region and credentials for the local engines, which check neither. The environment keeps the user's own: a kubeconfig
 * whose user is `aws eks get-token` needs them.
 */
const localClient = {
  region: 'us-east-1',
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
};

let documents: DynamoDBDocumentClient | undefined;

/** What each client of an AWS service is made with. */
export function toClientOptions({ placement }: Pick<Config, 'placement'>) {
  return { requestHandler, maxAttempts, ...(placement === 'local' && localClient) };
}

/** The process's client of DynamoDB, shared by all stores: they share its connections. */
export function openDocuments(config: Config): DynamoDBDocumentClient {
  documents ??= DynamoDBDocumentClient.from(withoutCallLog(new DynamoDBClient(toClientOptions(config))), {
    marshallOptions: { removeUndefinedValues: true },
  });
  return documents;
}

/** As far as a client's way of sending can be changed. */
interface AdjustableClient {
  readonly middlewareStack: { remove(name: string): boolean };
}

/**
 * The SDK copies each request and answer, value by value, for a logger; we give it none. What is left of its steps is needed:
 * among them are the retries, and the one that passes the trace of a Lambda invocation on.
 */
export function withoutCallLog<T extends AdjustableClient>(client: T): T {
  client.middlewareStack.remove('loggerMiddleware');
  return client;
}
