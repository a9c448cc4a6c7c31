import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { Config } from './config.ts';

/** Time-outs of each call to an AWS service, milliseconds. */
const requestHandler = { connectionTimeout: 3_000, requestTimeout: 6_000, throwOnRequestTimeout: true };

/** Attempts of each call to an AWS service: the SDK backs off with jitter between them. */
const maxAttempts = 4;

/** The region that the local engines are in. */
const localRegion = 'us-east-1';

let documents: DynamoDBDocumentClient | undefined;

/** What each client of an AWS service is made with. */
export function toClientOptions({ engineCredentials: credentials }: Pick<Config, 'engineCredentials'>) {
  return { requestHandler, maxAttempts, ...(credentials && { region: localRegion, credentials }) };
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
