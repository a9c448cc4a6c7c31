import { once } from 'node:events';
import {
  type ClientRequest,
  Agent as HttpAgent,
  type IncomingMessage,
  request as requestHttp,
} from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import { untilAborted } from '#core/deadline.ts';
import { gatherBytes } from '#core/gathered-bytes.ts';

/** Milliseconds for which an unused connection is kept: servers close theirs after five seconds and more. */
const idleMs = 4_000;

/** Bytes of an unwanted body that are read, so that its connection can be used again. */
const unwantedBytesMax = 64 * 2 ** 10;

/** Milliseconds for that. */
const unwantedMs = 1_000;

/** How to reach servers. */
export interface HttpOptions {
  /** Connections to one origin at most: further requests wait. */
  readonly connections: number;
  /** Milliseconds to connect, TLS included. Default: until the request's signal is aborted. */
  readonly connectMs?: number;
  /** Milliseconds without a byte of an answer. Default: until the request's signal is aborted. */
  readonly silenceMs?: number;
  /** The most bytes of an answer's headers. Default 16 KiB. */
  readonly headersBytesMax?: number;
  /** PEM of the authorities to trust. Default: those that Node trusts. */
  readonly ca?: string | undefined;
  /** Whether to accept any certificate. Default false. */
  readonly insecure?: boolean;
  /** URL of a proxy. Default: none. */
  readonly proxy?: string | undefined;
  /** Resolves names of hosts. Default: as the machine does. */
  readonly lookup?: LookupFunction;
}

/** A request to an http or https URL. */
export interface HttpRequest {
  readonly url: URL;
  /** Default `GET`. */
  readonly method?: 'GET' | 'HEAD' | 'POST';
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly signal: AbortSignal;
  /** The most bytes of its answer. */
  readonly bytesMax: number;
  /** Whether the body of an answer with this status is read. Default: always. */
  isWanted?(status: number): boolean;
}

/** An answer of any status. */
export interface HttpAnswer {
  readonly status: number;
  /** Undefined if there are more bytes than the request allows; empty if they are not wanted. */
  readonly bytes: Uint8Array | undefined;
  /** A header by its name in lower case; several of one name are joined by commas. Empty if there is none. */
  getHeader(name: string): string;
}

/** A server did not do something in time. Its code is Node's for that. */
class SilenceError extends Error {
  override name = 'SilenceError';
  readonly code = 'ETIMEDOUT';
}

/**
 * Sends requests over connections that stay open, by Node's own client: every process has it loaded. It follows no redirects, and reads no
 * more of an answer than it may. Disposing of it cuts its connections.
 */
export class HttpClient implements AsyncDisposable {
  readonly #options: HttpOptions;
  readonly #sent = new Set<ClientRequest>();
  #agents: { readonly http: HttpAgent; readonly https: HttpsAgent } | undefined;

  constructor(options: HttpOptions) {
    this.#options = options;
  }

  /** Sends a request once. @throws the signal's reason; Node's errors, which have a `code` and may quote addresses */
  async send({
    url,
    body,
    signal,
    bytesMax,
    isWanted = () => true,
    ...rest
  }: HttpRequest): Promise<HttpAnswer> {
    signal.throwIfAborted();
    const { silenceMs = 0, headersBytesMax } = this.#options;
    const isPlain = url.protocol === 'http:';
    this.#agents ??= createAgents(this.#options);
    const sent = (isPlain ? requestHttp : requestHttps)(url, {
      ...rest,
      agent: this.#agents[isPlain ? 'http' : 'https'],
      // Without it that of unused connections would count.
      timeout: silenceMs,
      ...(headersBytesMax !== undefined && { maxHeaderSize: headersBytesMax }),
    });
    this.#sent.add(sent);
    sent.on('close', () => this.#sent.delete(sent));
    const failed = new AbortController();
    const over = AbortSignal.any([signal, failed.signal]);
    // Without an error: a connection that was given back by now has no listener for one.
    const cut = (): unknown => sent.destroy();
    over.addEventListener('abort', cut);
    watch(sent, this.#options, (error) => failed.abort(error));
    sent.end(body);
    try {
      return await untilAborted(readAnswer(sent, { bytesMax, isWanted }), over);
    } finally {
      over.removeEventListener('abort', cut);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Those that wait for a connection would get another one.
    for (const request of this.#sent) request.destroy();
    this.#agents?.http.destroy();
    this.#agents?.https.destroy();
  }
}

function createAgents({ connections, ca, insecure = false, proxy, lookup }: HttpOptions) {
  const shared = {
    ...{ keepAlive: true, maxSockets: connections, timeout: idleMs },
    ...(lookup !== undefined && { lookup }),
  };
  return {
    http: new HttpAgent({ ...shared, ...(proxy !== undefined && { proxyEnv: { HTTP_PROXY: proxy } }) }),
    https: new HttpsAgent({
      ...{ ...shared, rejectUnauthorized: !insecure },
      ...(ca !== undefined && { ca }),
      ...(proxy !== undefined && { proxyEnv: { HTTPS_PROXY: proxy } }),
    }),
  };
}

/** Calls `fail` when a request fails, or takes too long. */
function watch(
  sent: ClientRequest,
  { connectMs, silenceMs }: HttpOptions,
  fail: (error: Error) => void,
): void {
  sent.on('error', fail);
  sent.on('timeout', () => fail(new SilenceError(`no answer within ${silenceMs} ms`)));
  if (connectMs === undefined) return;
  sent.on('socket', (socket) => {
    if (!socket.connecting) return;
    const late = () => fail(new SilenceError(`no connection within ${connectMs} ms`));
    const timer = setTimeout(late, connectMs);
    socket.once(sent.protocol === 'https:' ? 'secureConnect' : 'connect', () => clearTimeout(timer));
    sent.on('close', () => clearTimeout(timer));
  });
}

async function readAnswer(
  sent: ClientRequest,
  { bytesMax, isWanted }: Required<Pick<HttpRequest, 'bytesMax' | 'isWanted'>>,
): Promise<HttpAnswer> {
  const [response]: IncomingMessage[] = await once(sent, 'response');
  if (response === undefined) throw new Error('there is no response');
  // A body that is not read to its end must not crash the process when its connection breaks.
  response.on('error', () => {});
  const status = response.statusCode ?? 0;
  return {
    status,
    bytes: isWanted(status) ? await gatherBytes(response, bytesMax) : drop(response),
    getHeader: (name) => [response.headers[name] ?? []].flat().join(', '),
  };
}

/** Reads a short body on in the background, and cuts the connection of a longer or slow one. */
function drop(response: IncomingMessage): Uint8Array {
  const timer = setTimeout(() => response.destroy(), unwantedMs);
  response.on('close', () => clearTimeout(timer));
  gatherBytes(response, unwantedBytesMax).catch(() => undefined);
  return new Uint8Array(0);
}
