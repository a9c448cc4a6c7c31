import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { isJsonObject, type JsonObject } from '../../shared/core/json.ts';
import { AwsError } from './engines/engine.ts';
import type { EngineAccess, EngineClientOptions, SigningName } from './engine-access.ts';
import { startListeners } from './listeners.ts';
import {
  type AnswerRequest,
  type EngineAnswer,
  type EngineCall,
  type EngineRequest,
  type OwnClientOptions,
  toOwnClientOptions,
} from './own-engine-calls.ts';

/** An action: answers what AWS answers, throws AwsError for a refusal. */
export type AwsAction = (input: JsonObject, call: EngineCall) => object | Promise<object>;

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
  /** What its clients are made with, in whichever process. */
  readonly clientOptions: EngineClientOptions;
  /**
   * What clients of this process are made with, which need no socket.
   *
   * @param tryMs milliseconds of one try. Default: as long as it takes.
   */
  toOwnClientOptions(tryMs?: number): OwnClientOptions;
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
  const clientOptions = access.toClientOptions(url);
  const answer: AnswerRequest = (request, call) => answerOwn(service, request, call);
  return {
    url,
    clientOptions,
    toOwnClientOptions: (tryMs) => toOwnClientOptions(answer, clientOptions, tryMs),
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
  response.setHeader('date', formatDate());
}

/** This moment, as the header `Date` has it. */
export function formatDate(): string {
  return new Date().toUTCString();
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
      const call: EngineCall = { onClose: (listener) => void response.once('close', listener) };
      const body = await access.admit(request, service.signingName);
      const page = request.method === 'GET' ? findPage(service, request.url ?? '/') : undefined;
      const { headers } = request;
      const target = String(headers['x-amz-target'] ?? '');
      const output = page ?? (await perform(service, { target, body: body.toString('utf8'), call }));
      send(response, toAnswer(service, output));
    } catch (error) {
      sendAwsError(response, service, error);
    }
  };
}

/** Answers a request of this process. */
async function answerOwn(
  service: AwsJsonService,
  { headers, body }: EngineRequest,
  call: EngineCall,
): Promise<EngineAnswer> {
  try {
    return toAnswer(service, await perform(service, { target: headers['x-amz-target'] ?? '', body, call }));
  } catch (error) {
    return toErrorAnswer(service, error);
  }
}

function findPage({ pages }: AwsJsonService, url: string): object | undefined {
  const { pathname, searchParams } = new URL(url, 'http://localhost');
  return pages?.[pathname]?.(searchParams);
}

interface Received {
  /** The header `X-Amz-Target`. */
  readonly target: string;
  readonly body: string;
  readonly call: EngineCall;
}

async function perform(service: AwsJsonService, { target: header, body, call }: Received): Promise<object> {
  const [target, name] = header.split('.');
  const isKnown = target === service.target && name !== undefined && Object.hasOwn(service.actions, name);
  const action = isKnown ? service.actions[name] : undefined;
  if (action === undefined) {
    throw new AwsError('UnknownOperationException', `'${target}.${name}' is no action that is served here.`);
  }
  return action(parseInput(body), call);
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
  send(response, toErrorAnswer(service, error));
}

/** The answer that a service gives for an error; what is no AwsError is a defect. */
export function toErrorAnswer(service: AwsJsonDialect, error: unknown): EngineAnswer {
  const known =
    error instanceof AwsError
      ? error
      : new AwsError('InternalFailure', `Defect of the local engine: ${error}`, 500);
  const queryCode = service.queryErrorCodes?.[known.code] ?? known.code;
  const fault = known.status >= 500 ? 'Receiver' : 'Sender';
  const answer = toAnswer(service, {
    __type: `${service.errorNamespace}#${known.code}`,
    message: known.message,
  });
  return {
    ...answer,
    status: known.status,
    headers: { ...answer.headers, 'x-amzn-query-error': `${queryCode};${fault}` },
  };
}

function toAnswer({ version }: AwsJsonDialect, output: object): EngineAnswer {
  const headers = {
    'content-type': `application/x-amz-json-${version}`,
    date: formatDate(),
    'x-amzn-requestid': randomUUID(),
  };
  return { status: 200, headers, body: JSON.stringify(output) };
}

function send(response: ServerResponse, { status, headers, body }: EngineAnswer): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) });
  response.end(body);
}
