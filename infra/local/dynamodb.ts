import { EventEmitter } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import type { IncomingMessage, RequestListener } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  CreateTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  ResourceNotFoundException,
  UpdateTableCommand,
} from '@aws-sdk/client-dynamodb';
import dynalite from 'dynalite';
import type { Table } from '../../shared/aws/tables.ts';
import { AwsError } from './aws-json-error.ts';
import {
  type AwsJsonDialect,
  type AwsJsonServer,
  closeServer,
  formatDate,
  listenOnLoopback,
  sendAwsError,
  stampDate,
  toErrorAnswer,
} from './aws-json-server.ts';
import type { EngineAccess } from './engine-access.ts';
import { type LevelStorage, requireOfLevel, watchStorage } from './level-storage.ts';
import {
  type AnswerRequest,
  type EngineAnswer,
  type EngineRequest,
  toOwnClientOptions,
} from './own-engine-calls.ts';
import { rememberParsedExpressions } from './parsed-expressions.ts';

/** Milliseconds between two looks at a table that is being made, and how many there are at most. */
const statusPauseMs = 2;
const statusPausesMax = 5_000;

/** Milliseconds that calls under way get before the tables are opened again, and between two looks at them. */
const settleMaxMs = 5_000;
const settlePauseMs = 50;

/** A running DynamoDB. */
export interface DynamoDbServer extends AwsJsonServer {
  /** The disk under the tables. */
  readonly storage: LevelStorage;
}

/** How to start DynamoDB. */
export interface StartDynamoDbOptions {
  /** Folder of the data; made when missing. Only one process may use it at a time. */
  readonly dir: string;
  /** Tables that must exist. */
  readonly tables: readonly Table[];
  /** Who may call it. */
  readonly access: EngineAccess;
}

const dialect: AwsJsonDialect = { version: '1.0', errorNamespace: 'com.amazonaws.dynamodb.v20120810' };

/**
 * Starts DynamoDB (dynalite, on LevelDB) on a free port of 127.0.0.1 and makes the tables that are missing. What was
 * answered survives kill -9. It has no transactions, no expiry and no change streams; indexes do not survive kill -9.
 */
export async function startDynamoDb(options: StartDynamoDbOptions): Promise<DynamoDbServer> {
  // A process killed between dynalite's two writes of a new table leaves one that can neither be used nor deleted. So the
  // folder of a first start comes into being at once, with its tables.
  if (!existsSync(options.dir)) {
    const unfinished = `${options.dir}.unfinished`;
    await rm(unfinished, { recursive: true, force: true });
    const server = await serveTables({ ...options, dir: unfinished });
    await server[Symbol.asyncDispose]();
    await rename(unfinished, options.dir);
  }
  return serveTables(options);
}

async function serveTables({ dir, tables, access }: StartDynamoDbOptions): Promise<DynamoDbServer> {
  letIteratorsClose();
  rememberParsedExpressions();
  await mkdir(dir, { recursive: true });
  const calls = new Calls();
  const storage = watchStorage({ dir, settle: () => calls.settle() });
  const server = dynalite({ path: dir, createTableMs: 0, updateTableMs: 0 });
  server.keepAliveTimeout = 0;
  const [handle] = server.listeners('request') as RequestListener[];
  server.removeAllListeners('request');
  if (handle === undefined) throw new Error('dynalite listens to no requests');
  server.on('request', guard(handle, { access, storage, calls }));
  const url = await listenOnLoopback(server);
  const clientOptions = access.toClientOptions(url);
  let isEnding = false;
  const answer: AnswerRequest = (request) => {
    if (isEnding) return Promise.reject(new Error('The tables are being closed'));
    return answerOwn(handle, request, { storage, calls });
  };
  const stop = async () => {
    isEnding = true;
    await storage[Symbol.asyncDispose]();
    await closeServer(server);
  };
  const client = new DynamoDBClient(clientOptions);
  try {
    await storage.waitUntilOpen();
    await Promise.all(tables.map((table) => ensureTable(client, table)));
  } catch (error) {
    await stop();
    throw error;
  } finally {
    client.destroy();
  }
  return {
    url,
    clientOptions,
    toOwnClientOptions: (tryMs) => toOwnClientOptions(answer, clientOptions, tryMs),
    storage,
    [Symbol.asyncDispose]: stop,
  };
}

/** The calls under way. */
class Calls {
  #count = 0;

  /** Counts a call. @returns what is to be called once, when it is answered */
  begin(): () => void {
    this.#count += 1;
    return () => {
      this.#count -= 1;
    };
  }

  /** Waits until there are none. @returns whether there are none */
  async settle(): Promise<boolean> {
    for (let waitedMs = 0; waitedMs < settleMaxMs; waitedMs += settlePauseMs) {
      // A caller who went away leaves a call that still does something for a moment.
      await sleep(settlePauseMs);
      if (this.#count === 0) return true;
    }
    return false;
  }
}

/**
 * dynalite ends its reads by calling `return` on LevelDB's iterators, which have `close` instead. Each query would leave an
 * open iterator behind: memory that nothing frees, and a snapshot that keeps deleted data on the disk.
 */
function letIteratorsClose(): void {
  const { AbstractIterator } = requireOfLevel('abstract-level');
  const prototype: { close(): Promise<void>; return?: () => Promise<void> } = Object.getPrototypeOf(
    AbstractIterator.prototype,
  );
  prototype.return ??= prototype.close;
}

interface Guards {
  readonly access: EngineAccess;
  readonly storage: LevelStorage;
  readonly calls: Calls;
}

/**
 * Adds what dynalite lacks: it answers anybody, and ends the process when a client breaks off a request or the tables are not open.
 */
function guard(handle: RequestListener, { access, storage, calls }: Guards): RequestListener {
  return (request, response) => {
    stampDate(response);
    access.admit(request, 'dynamodb').then(
      (body) => {
        if (!storage.isOpen) {
          sendAwsError(response, dialect, opening());
          return;
        }
        response.once('close', calls.begin());
        hand(handle, new AdmittedRequest(request), { body, response });
      },
      (error: unknown) => sendAwsError(response, dialect, error),
    );
  };
}

/** dynalite looks whether there is a signature, but not at it. */
const unsigned = {
  authorization: 'AWS4-HMAC-SHA256 Credential=none, SignedHeaders=none, Signature=none',
  'x-amz-date': 'none',
} as const;

/** Answers a request of this process. */
async function answerOwn(
  handle: RequestListener,
  { headers, body }: EngineRequest,
  { storage, calls }: Pick<Guards, 'storage' | 'calls'>,
): Promise<EngineAnswer> {
  if (!storage.isOpen) return toErrorAnswer(dialect, opening());
  const end = calls.begin();
  try {
    const request = new AdmittedRequest({ method: 'POST', url: '/', headers: { ...headers, ...unsigned } });
    const { promise, resolve } = Promise.withResolvers<EngineAnswer>();
    hand(handle, request, { body, response: new KeptResponse(resolve) });
    return await promise;
  } finally {
    end();
  }
}

function opening(): AwsError {
  return new AwsError('InternalServerError', 'The tables are being opened', 500);
}

/** Has dynalite answer a request. It sees nothing of either but what stands below. */
function hand(
  handle: RequestListener,
  request: AdmittedRequest,
  { body, response }: { readonly body: Buffer | string; readonly response: object },
): void {
  (handle as unknown as (request: AdmittedRequest, response: object) => void)(request, response);
  request.emit('data', body);
  request.emit('end');
}

/** An answer that goes over no connection, as far as dynalite writes answers. */
class KeptResponse {
  statusCode = 200;
  readonly #headers: { [name: string]: string } = { date: formatDate() };
  readonly #resolve: (answer: EngineAnswer) => void;

  constructor(resolve: (answer: EngineAnswer) => void) {
    this.#resolve = resolve;
  }

  setHeader(name: string, value: string | number): void {
    this.#headers[name.toLowerCase()] = String(value);
  }

  end(body = ''): void {
    this.#resolve({ status: this.statusCode, headers: this.#headers, body });
  }
}

/** A request whose body was read already, as far as dynalite looks at requests. */
class AdmittedRequest extends EventEmitter {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage['headers'];

  constructor({ method, url, headers }: Pick<IncomingMessage, 'method' | 'url' | 'headers'>) {
    super();
    this.method = method;
    this.url = url;
    this.headers = headers;
  }
}

/** Makes a table unless it is there, and waits until it can be used. */
async function ensureTable(client: DynamoDBClient, table: Table): Promise<void> {
  let status = await findStatus(client, table);
  if (status === undefined) await createTable(client, table);
  // Nobody makes it now: a release that added it was killed between dynalite's two writes of a new table.
  if (status === 'CREATING') await finishTable(client, table);
  for (let pauses = 0; status !== 'ACTIVE' && status !== 'UPDATING'; pauses += 1) {
    if (pauses > statusPausesMax) {
      throw new Error(
        `The local table ${table.name} cannot be used (status ${status}): start with another --data-dir`,
      );
    }
    await sleep(statusPauseMs);
    status = await findStatus(client, table);
  }
}

/** The table's status, or undefined when there is no such table. */
async function findStatus(client: DynamoDBClient, { name }: Table): Promise<string | undefined> {
  try {
    return (await client.send(new DescribeTableCommand({ TableName: name }))).Table?.TableStatus;
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return undefined;
    throw error;
  }
}

/** Makes a table usable whose making was cut off. Dynalite does so with any change of a table; capacities mean nothing to it. */
async function finishTable(client: DynamoDBClient, { name }: Table): Promise<void> {
  await client.send(
    new UpdateTableCommand({
      TableName: name,
      BillingMode: 'PROVISIONED',
      ProvisionedThroughput: { ReadCapacityUnits: 1, WriteCapacityUnits: 1 },
    }),
  );
}

async function createTable(client: DynamoDBClient, { name, partitionKey, sortKey }: Table): Promise<void> {
  await client.send(
    new CreateTableCommand({
      TableName: name,
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: [
        { AttributeName: partitionKey, KeyType: 'HASH' },
        { AttributeName: sortKey, KeyType: 'RANGE' },
      ],
      AttributeDefinitions: [partitionKey, sortKey].map((key) => ({
        AttributeName: key,
        AttributeType: 'S',
      })),
    }),
  );
}
