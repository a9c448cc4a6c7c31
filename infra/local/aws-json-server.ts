import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { isJsonObject, type JsonObject } from '../../shared/core/json.ts';
import { AwsError } from './aws-json-error.ts';
import type { EngineAccess, EngineClientOptions, SigningName } from './engine-access.ts';
import { startListeners } from './listeners.ts';

/** One call of an action. */
export interface AwsCall {
  /** Calls `listener` when the connection ends, answered or not: a caller who went away gets no messages. */
  onClose(listener: () => void): void;
}

/** An action: answers what AWS answers, throws AwsError for a refusal. */
export type AwsAction = (input: JsonObject, call: AwsCall) => object | Promise<object>;

/** How a service words its answers. */
export interface AwsJsonDialect {
  /** Version of the protocol, the end of the media type. */
  readonly version: '1.0' | '1.1';
  /** Namespace in `__type` of errors, for example `com.amazonaws.sqs`. */
  readonly errorNamespace: string;
  /** Names of errors in AWS' older query protocol, where they differ. */
  readonly queryErrorCodes?: { readonly [code: string]: string };
}

/** A service that speaks AWS' JSON protocol: `POST /` with the action in `X-Amz-Target`. */
export interface AwsJsonService extends AwsJsonDialect {
  /** First part of `X-Amz-Target`, for example `AmazonSQS`. */
  readonly target: string;
  readonly signingName: SigningName;
  readonly actions: { readonly [name: string]: AwsAction };
  /** Pages for people and tests, by path: `GET` answers what they return as JSON. */
  readonly pages?: { readonly [path: string]: (query: URLSearchParams) => object };
}

/** A running service. Disposing ends all its connections. */
export interface AwsJsonServer extends AsyncDisposable {
  /** For example `http://127.0.0.1:40123`. */
  readonly url: string;
  /** What its clients are made with. */
  readonly clientOptions: EngineClientOptions;
}

/**
 * Serves a service on a free port of 127.0.0.1, to those alone whom `access` admits.
 *
 * @param makeService called with the server's own URL, which queue URLs contain
 */
export async function startAwsJsonServer(
  access: EngineAccess,
  makeService: (url: string) => AwsJsonService,
): Promise<AwsJsonServer> {
  const server = createServer({ keepAliveTimeout: 0 });
  const url = await listenOnLoopback(server);
  const service = makeService(url);
  const respond = answerer(service, access);
  server.on('request', (request, response) => void respond(request, response));
  return {
    url,
    clientOptions: access.toClientOptions(url),
    [Symbol.asyncDispose]: () => closeServer(server),
  };
}

/**
 * Makes a server listen on a free port of 127.0.0.1. Clients that begin to work open dozens of connections, which must not wait behind
 * those of callers at the front door.
 *
 * @returns its URL
 */
export async function listenOnLoopback(server: Server): Promise<string> {
  const { address } = await startListeners(server, { host: '127.0.0.1', port: 0 });
  return `http://127.0.0.1:${address.port}`;
}

/**
 * Tells the time of this moment. Node's own header may be a second old; when the machine's clock was turned meanwhile, the SDK would
 * sign with a time that is as far off.
 */
export function stampDate(response: ServerResponse): void {
  response.setHeader('date', new Date().toUTCString());
}

/** Closes a server and its connections at once. */
export async function closeServer(server: Server): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

function answerer(
  service: AwsJsonService,
  access: EngineAccess,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  return async (request, response) => {
    stampDate(response);
    try {
      const call: AwsCall = { onClose: (listener) => void response.once('close', listener) };
      const body = await access.admit(request, service.signingName);
      const output = await perform(service, { request, body, call });
      send(response, { status: 200, body: output, version: service.version });
    } catch (error) {
      sendAwsError(response, service, error);
    }
  };
}

interface Received {
  readonly request: IncomingMessage;
  readonly body: Buffer;
  readonly call: AwsCall;
}

async function perform(service: AwsJsonService, { request, body, call }: Received): Promise<object> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
  const page = service.pages?.[pathname];
  if (request.method === 'GET' && page !== undefined) return page(searchParams);
  const [target, name] = String(request.headers['x-amz-target'] ?? '').split('.');
  const isKnown = target === service.target && name !== undefined && Object.hasOwn(service.actions, name);
  const action = isKnown ? service.actions[name] : undefined;
  if (action === undefined) {
    throw new AwsError('UnknownOperationException', `'${target}.${name}' is no action that is served here.`);
  }
  return action(parseInput(body.toString('utf8')), call);
}

function parseInput(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text === '' ? '{}' : text);
    if (isJsonObject(value)) return value;
  } catch {
    // Falls through: not JSON and JSON of another shape are the same refusal.
  }
  throw new AwsError('SerializationException', 'The request body must be a JSON object.');
}

/** Answers with an error, as a service words it; what is no AwsError is a defect. Does nothing once an answer began. */
export function sendAwsError(response: ServerResponse, service: AwsJsonDialect, error: unknown): void {
  const known =
    error instanceof AwsError
      ? error
      : new AwsError('InternalFailure', `Defect of the local engine: ${error}`, 500);
  const queryCode = service.queryErrorCodes?.[known.code] ?? known.code;
  const fault = known.status >= 500 ? 'Receiver' : 'Sender';
  if (!response.headersSent) response.setHeader('x-amzn-query-error', `${queryCode};${fault}`);
  const body = { __type: `${service.errorNamespace}#${known.code}`, message: known.message };
  send(response, { status: known.status, body, version: service.version });
}

interface Answer {
  readonly status: number;
  readonly body: object;
  readonly version: string;
}

function send(response: ServerResponse, { status, body, version }: Answer): void {
  if (response.headersSent || response.destroyed) return;
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'content-type': `application/x-amz-json-${version}`,
    'content-length': Buffer.byteLength(text),
    'x-amzn-requestid': randomUUID(),
  });
  response.end(text);
}
