import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isJsonObject, type JsonObject } from '../../shared/core/json.ts';
import { AwsError } from './aws-json-error.ts';
import { findRefusal } from './loopback-guard.ts';

/** More than any request that the emulated services accept. */
const maximumBodyBytes = 16 << 20;

/** One call of an action. */
export interface AwsCall {
  /** Calls `listener` when the connection ends, answered or not: a caller who went away gets no messages. */
  onClose(listener: () => void): void;
}

/** An action: answers what AWS answers, throws AwsError for a refusal. */
export type AwsAction = (input: JsonObject, call: AwsCall) => object | Promise<object>;

/** A service that speaks AWS' JSON protocol: `POST /` with the action in `X-Amz-Target`. */
export interface AwsJsonService {
  /** First part of `X-Amz-Target`, for example `AmazonSQS`. */
  readonly target: string;
  /** Version of the protocol, the end of the media type. */
  readonly version: '1.0' | '1.1';
  /** Namespace in `__type` of errors, for example `com.amazonaws.sqs`. */
  readonly errorNamespace: string;
  /** Names of errors in AWS' older query protocol, where they differ. */
  readonly queryErrorCodes?: { readonly [code: string]: string };
  readonly actions: { readonly [name: string]: AwsAction };
  /** Pages for people and tests, by path: `GET` answers what they return as JSON. */
  readonly pages?: { readonly [path: string]: (query: URLSearchParams) => object };
}

/** A running service. Disposing ends all its connections. */
export interface AwsJsonServer extends AsyncDisposable {
  /** For example `http://127.0.0.1:40123`. */
  readonly url: string;
}

/**
 * Serves a service on a free port of 127.0.0.1. Signatures are not verified.
 *
 * @param makeService called with the server's own URL, which queue URLs contain
 */
export async function startAwsJsonServer(
  makeService: (url: string) => AwsJsonService,
): Promise<AwsJsonServer> {
  const server = createServer({ keepAliveTimeout: 0 });
  const url = await listenOnLoopback(server);
  const service = makeService(url);
  server.on('request', (request, response) => void answer(service, request, response));
  return { url, [Symbol.asyncDispose]: () => closeServer(server) };
}

/** Makes a server listen on a free port of 127.0.0.1. @returns its URL */
export async function listenOnLoopback(server: Server): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}`;
}

/** Closes a server and its connections at once. */
export async function closeServer(server: Server): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

async function answer(
  service: AwsJsonService,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    const call: AwsCall = { onClose: (listener) => void response.once('close', listener) };
    const output = await perform(service, request, call);
    send(response, { status: 200, body: output, version: service.version });
  } catch (error) {
    sendError(service, response, error);
  }
}

async function perform(service: AwsJsonService, request: IncomingMessage, call: AwsCall): Promise<object> {
  const refusal = findRefusal(request);
  if (refusal !== undefined) throw new AwsError('AccessDeniedException', refusal, 403);
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
  const page = service.pages?.[pathname];
  if (request.method === 'GET' && page !== undefined) return page(searchParams);
  const [target, name] = String(request.headers['x-amz-target'] ?? '').split('.');
  const isKnown = target === service.target && name !== undefined && Object.hasOwn(service.actions, name);
  const action = isKnown ? service.actions[name] : undefined;
  if (action === undefined) {
    throw new AwsError('UnknownOperationException', `'${target}.${name}' is no action that is served here.`);
  }
  return action(parseInput(await readBody(request)), call);
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maximumBodyBytes) {
      throw new AwsError(
        'RequestEntityTooLarge',
        `The request is larger than ${maximumBodyBytes} bytes.`,
        413,
      );
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length).toString('utf8');
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

function sendError(service: AwsJsonService, response: ServerResponse, error: unknown): void {
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
