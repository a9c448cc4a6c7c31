import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { urlToHttpOptions } from 'node:url';
import { ConfigurationError, FailedOperationError, getErrorMessage, UnavailableError } from '#core/errors.ts';
import type { UpstreamSettings } from '#settings/upstream-settings.ts';

/** The most connections of a process to the upstream, and as many again for requests that must not be repeated. */
export const connectionsMax = 64;

/** Milliseconds for a connection, TLS included. */
export const connectTimeoutMs = 2_000;

/** Milliseconds without a byte after which an answer that has begun is given up. */
export const bodyIdleMs = 15_000;

/** Bytes of the headers of one answer. */
export const answerHeadersBytesMax = 64 << 10;

/** Milliseconds for which an unused connection is kept: servers close theirs after five seconds and more. */
const idleMs = 4_000;

/** A request to send upstream. */
export interface UpstreamRequest {
  readonly method: string;
  /** Encoded, with the query: `/task/1`. */
  readonly path: string;
  readonly headers: { readonly [name: string]: string };
  readonly body: Uint8Array | undefined;
  /**
   * What happens to a request that is sent a second time: `repeat` nothing new, so it is; `deduplicated` the upstream knows it by its
   * `clientRequestId`, so its caller may; `once` it may be done twice.
   */
  readonly repetition: 'repeat' | 'deduplicated' | 'once';
}

/** An answer of the upstream. */
export interface UpstreamAnswer {
  readonly status: number;
  /** Headers that say something of the answer; none that belongs to the connection. Names in lower case. */
  readonly headers: { readonly [name: string]: string };
  /** The bytes as they come; an answer that breaks off throws. */
  readonly body: IncomingMessage;
}

/** How long to wait. */
export interface SendOptions {
  /** Milliseconds for the whole answer. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Calls the upstream. Disposing of it cuts its connections. */
export interface UpstreamClient extends AsyncDisposable {
  /**
   * Sends a request, and resolves when its answer begins.
   *
   * @throws UnavailableError where nothing was sent, or it may be sent again; FailedOperationError where it may have been done.
   */
  send(request: UpstreamRequest, options: SendOptions): Promise<UpstreamAnswer>;
}

/** Nothing of a request has reached the upstream. */
export class NothingSentError extends UnavailableError {}

/** How far a request got. */
interface Progress {
  /** Whether a byte of it may have arrived. */
  isConnected: boolean;
}

/** A client, which connects on first use. @throws ConfigurationError for a file of TLS that cannot be read */
export function createUpstreamClient(settings: UpstreamSettings): UpstreamClient {
  const { baseUrl, headers: own } = settings;
  const target = urlToHttpOptions(baseUrl);
  const isPlain = baseUrl.protocol === 'http:';
  const kept = createAgent(settings, { keepAlive: true, timeout: idleMs });
  // A connection that the server is about to close would lose a request that must not be repeated: each has one of its own.
  const fresh = createAgent(settings, { keepAlive: false });

  async function trySend(
    { method, path, headers, body, repetition }: UpstreamRequest,
    { progress, signal }: { readonly progress: Progress; readonly signal: AbortSignal },
  ): Promise<UpstreamAnswer> {
    const sent = (isPlain ? requestHttp : requestHttps)({
      ...{ ...target, method, signal, path: baseUrl.pathname.slice(0, -1) + path },
      headers: { ...headers, ...(body && { 'content-length': body.length }), ...own },
      agent: repetition === 'repeat' ? kept : fresh,
      maxHeaderSize: answerHeadersBytesMax,
    });
    // One that breaks after its answer began is seen by the reader of that.
    sent.on('error', () => {});
    sent.on('socket', (socket) => {
      progress.isConnected = !socket.connecting;
      if (progress.isConnected) return;
      const late = () => sent.destroy(new Error(`no connection within ${connectTimeoutMs} ms`));
      const timer = setTimeout(late, connectTimeoutMs);
      sent.once('close', () => clearTimeout(timer));
      socket.once(isPlain ? 'connect' : 'secureConnect', () => {
        clearTimeout(timer);
        progress.isConnected = true;
      });
    });
    sent.end(body);
    const [response]: IncomingMessage[] = await once(sent, 'response');
    if (response === undefined) throw new Error('there is no response');
    response.on('error', () => {});
    response.setTimeout(bodyIdleMs, () => response.destroy(new Error(`no byte within ${bodyIdleMs} ms`)));
    return { status: response.statusCode ?? 0, headers: toHeaders(response), body: response };
  }

  return {
    async send(asked, { timeoutMs, signal }) {
      const over = AbortSignal.timeout(timeoutMs);
      const progress = { isConnected: false };
      const options = { progress, signal: AbortSignal.any([signal, over]) };
      try {
        return await trySend(asked, options).catch((error) => {
          if (asked.repetition !== 'repeat' || !isBrokenConnection(error)) throw error;
          return trySend(asked, options);
        });
      } catch (cause) {
        const reason = over.aborted ? `no answer within ${timeoutMs} ms` : describe(cause);
        throw toFailure(asked.repetition, {
          ...{ cause, reason, origin: baseUrl.origin, isSent: progress.isConnected },
        });
      }
    },
    async [Symbol.asyncDispose]() {
      kept.destroy();
      fresh.destroy();
    },
  };
}

function createAgent(
  { baseUrl, proxy, tls }: UpstreamSettings,
  options: { readonly keepAlive: boolean; readonly timeout?: number },
): HttpAgent {
  const shared = { ...options, maxSockets: connectionsMax };
  if (baseUrl.protocol === 'http:') {
    return new HttpAgent({ ...shared, ...(proxy !== undefined && { proxyEnv: { HTTP_PROXY: proxy } }) });
  }
  return new HttpsAgent({
    ...{ ...shared, ...readPem('ca', tls.caFile) },
    ...{ ...readPem('cert', tls.certFile), ...readPem('key', tls.keyFile) },
    ...(proxy !== undefined && { proxyEnv: { HTTPS_PROXY: proxy } }),
  });
}

/** The option of TLS with the text of a file; nothing without a file. */
function readPem(
  option: 'ca' | 'cert' | 'key',
  file: string | undefined,
): { readonly [option: string]: string } {
  if (file === undefined) return {};
  try {
    return { [option]: readFileSync(file, 'utf8') };
  } catch (error) {
    throw new ConfigurationError(
      `busdriver.upstream.tls.${option}File: cannot be read: ${getErrorMessage(error)}`,
    );
  }
}

/** Codes of connections that broke. */
const brokenCodes: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE']);

function isBrokenConnection(error: unknown): boolean {
  return brokenCodes.has(getCode(error));
}

function getCode(error: unknown): string {
  return String((error as { readonly code?: unknown } | undefined)?.code ?? '');
}

/** Several addresses that failed make an error without a message. */
function describe(error: unknown): string {
  return getErrorMessage(error) || getCode(error);
}

interface Failure {
  readonly cause: unknown;
  readonly reason: string;
  readonly origin: string;
  readonly isSent: boolean;
}

/** @param isSent whether the request may have arrived: then its caller must not send it again, unless that is done once */
function toFailure(
  repetition: UpstreamRequest['repetition'],
  { cause, reason, origin, isSent }: Failure,
): Error {
  if (!isSent || repetition !== 'once') {
    const Kind = isSent ? UnavailableError : NothingSentError;
    return new Kind(`The Clouddriver upstream (${origin}) does not answer: ${reason}`, { cause });
  }
  return new FailedOperationError(
    `The Clouddriver upstream (${origin}) got the request, and its answer was lost: ${reason}. It may have been done: look before you ` +
      'repeat it',
    { cause },
  );
}

/** Headers of an answer that its caller may want. */
const answerHeaders =
  /^(age|allow|cache-control|content-(disposition|encoding|type)|etag|last-modified|retry-after|vary|x-(busdriver|spinnaker)-.*)$/;

function toHeaders({ headers }: IncomingMessage): { readonly [name: string]: string } {
  const kept = Object.entries(headers).filter(
    ([name, value]) => answerHeaders.test(name) && value !== undefined,
  );
  return Object.fromEntries(kept.map(([name, value]) => [name, String(value)]));
}
