import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { isJsonObject, type JsonObject } from '#core/json.ts';
import type { Engine } from '#infra/local/engines/engine.ts';
import { closeServer } from '../network/local-server.ts';
import { localClientOptions } from './local-aws-client.ts';

/** How a service words what it takes and answers. */
export interface HttpDialect {
  /** Version of AWS' JSON protocol, the end of the media type. */
  readonly version: '1.0' | '1.1';
  /** Namespace in `__type` of errors, for example `com.amazonaws.sqs`. */
  readonly errorNamespace: string;
  /** Names of errors in AWS' older query protocol, where they differ. */
  readonly queryErrorCodes?: { readonly [code: string]: string };
  /** A request as commands of the SDK have it. Default: as it is. */
  fromWire?(input: JsonObject): object;
  /** An answer as it goes over the wire. Default: as it is. */
  toWire?(output: object): object;
}

/** What a server answers. */
export interface HttpEngineOptions {
  readonly dialect: HttpDialect;
  /** Called with the server's own URL, which URLs of queues contain. */
  open(url: string): Pick<Engine, 'perform'>;
  /** Default: any free one. */
  readonly port?: number | undefined;
  /** Pages for tests, by path: `GET` answers what they return as JSON. */
  readonly pages?: { readonly [path: string]: (query: URLSearchParams) => object };
}

/** An engine that the SDK calls over a socket. Disposing ends all its connections. */
export interface EngineServer extends AsyncDisposable {
  /** For example `http://127.0.0.1:40123`. */
  readonly url: string;
  /** What clients of the SDK are made with. */
  readonly clientOptions: typeof localClientOptions & { readonly endpoint: string };
}

/**
 * Serves an engine on a port of 127.0.0.1 over AWS' JSON protocol (`POST /` with the action in `X-Amz-Target`), for processes that
 * call it as functions in AWS do. Nobody's signature is looked at.
 */
export async function serveEngine(options: HttpEngineOptions): Promise<EngineServer> {
  const server = createServer({ keepAliveTimeout: 0 });
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const engine = options.open(url);
  server.on('request', (request, response) => void answer({ ...options, engine }, request, response));
  return {
    url,
    clientOptions: { ...localClientOptions, endpoint: url },
    [Symbol.asyncDispose]: () => closeServer(server),
  };
}

interface Served extends HttpEngineOptions {
  readonly engine: Pick<Engine, 'perform'>;
}

async function answer(served: Served, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { version } = served.dialect;
  // Node's own header may be a second old.
  const headers = {
    'content-type': `application/x-amz-json-${version}`,
    date: new Date().toUTCString(),
    'x-amzn-requestid': randomUUID(),
  };
  const leaving = new AbortController();
  response.once('close', () => leaving.abort());
  try {
    const output = await perform(served, request, leaving.signal);
    response.writeHead(200, headers).end(JSON.stringify(output));
  } catch (error) {
    if (leaving.signal.aborted) return;
    const refusal = toRefusal(served.dialect, error);
    response.writeHead(refusal.status, { ...headers, ...refusal.headers }).end(JSON.stringify(refusal.body));
  }
}

async function perform(served: Served, request: IncomingMessage, signal: AbortSignal): Promise<object> {
  const { dialect, engine, pages } = served;
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
  const page = request.method === 'GET' ? pages?.[pathname] : undefined;
  if (page !== undefined) return page(searchParams);
  const [, action = ''] = String(request.headers['x-amz-target']).split('.');
  const input = parseInput(await text(request));
  const output = await engine.perform(action, dialect.fromWire?.(input) ?? input, { signal });
  return dialect.toWire?.(output) ?? output;
}

function parseInput(body: string): JsonObject {
  const value: unknown = JSON.parse(body || '{}');
  return isJsonObject(value) ? value : {};
}

/** What is no AwsError, of whichever bundle, is a defect. */
function toRefusal({ errorNamespace, queryErrorCodes }: HttpDialect, error: unknown) {
  const { code, status, message } = error as { code?: unknown; status?: unknown; message?: unknown };
  const known =
    typeof code === 'string' && typeof status === 'number'
      ? { code, status, message }
      : { code: 'InternalFailure', status: 500, message: `Defect of the engine: ${error}` };
  const fault = known.status >= 500 ? 'Receiver' : 'Sender';
  return {
    status: known.status,
    headers: { 'x-amzn-query-error': `${queryErrorCodes?.[known.code] ?? known.code};${fault}` },
    body: { __type: `${errorNamespace}#${known.code}`, message: known.message },
  };
}
