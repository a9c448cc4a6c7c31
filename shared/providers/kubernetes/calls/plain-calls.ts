import { connect } from 'node:tls';
import type { JsonValue } from '#core/json.ts';
import { pageBytesMax } from '../api/answer-limits.ts';
import { KubernetesConnectionError } from '../api/errors.ts';
import { describeConnectionFailure } from '../transport/connection-failure.ts';
import { ExchangeError, exchange, type WireAnswer } from '../transport/exchange.ts';
import { toStatusFailure } from '../transport/http.ts';
import { type Session, SessionKeeper, type SessionOptions } from '../transport/session.ts';

/** Time limit of one call by default, seconds. */
const callSeconds = 15;

/** Time limit for reading the certificate of an API server, milliseconds. */
const certificateMs = 5_000;

/** One call of an API server. */
export interface PlainCall {
  /** Default: `GET`. */
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Relative to the address of the API server, with its query: `/version`. */
  readonly path: string;
  /** Sent as JSON. Default: nothing. */
  readonly body?: unknown;
  /** Default: `application/json`. */
  readonly contentType?: string;
  /** Accepted type, if it is a JSON other than that of objects. */
  readonly accept?: string;
}

/** The answer of a call. */
export interface PlainAnswer {
  readonly status: number;
  /** Parsed from JSON; undefined if it is not JSON. */
  readonly body: JsonValue | undefined;
  /** The header `Date`, empty without one. */
  readonly date: string;
}

/**
 * Single calls of an API server, without retries: for code that inspects a cluster, or sets something up in it, and shows the answers to a
 * user. Disposing cuts the connections.
 */
export class PlainCalls implements AsyncDisposable {
  readonly #sessions: SessionKeeper;
  readonly #timeoutMs: number;

  /** Makes no call yet. @param options `connection.requestTimeoutSeconds` limits one call. Default: 15 */
  constructor(options: SessionOptions) {
    this.#sessions = new SessionKeeper(options);
    this.#timeoutMs = (options.connection.requestTimeoutSeconds ?? callSeconds) * 1_000;
  }

  /** What calls are made with now. @throws KubernetesConnectionError */
  async getSession(): Promise<Session> {
    return this.#sessions.get();
  }

  /** Where the API server is, and where objects without a namespace go. @throws KubernetesConnectionError */
  async locate(): Promise<{ readonly url: string; readonly namespace: string }> {
    const { connection } = await this.#sessions.get();
    return { url: connection.origin + connection.basePath, namespace: connection.namespace };
  }

  /** Makes a call. @throws KubernetesConnectionError, or what the connection throws; never for a status */
  async call(call: PlainCall): Promise<PlainAnswer> {
    const { status, headers, body } = await this.#exchange(await this.#sessions.get(), call);
    return { status, body: parseJson(body.toString('utf8')), date: headers.date ?? '' };
  }

  /** The body of a successful answer. @throws KubernetesApiError, KubernetesConnectionError, or the signal's reason */
  async send(call: PlainCall, signal?: AbortSignal): Promise<JsonValue | undefined> {
    const session = await this.#sessions.get();
    const answer = await this.#exchange(session, call, signal).catch((error: unknown) => {
      throw error instanceof ExchangeError ? explainFailure(error.cause, session) : error;
    });
    if (answer.status < 300) return parseJson(answer.body.toString('utf8'));
    if (answer.status === 401) this.#sessions.refuse(session);
    throw toStatusFailure(answer, session).error;
  }

  /**
   * SHA-256 of the API server's certificate: hexadecimal, with colons. Empty if there is none, or if it cannot be read directly, as behind
   * a proxy. Sends nothing.
   */
  async findCertificate(): Promise<string> {
    const { connection } = await this.#sessions.get();
    const { protocol, hostname, port } = new URL(connection.origin);
    if (protocol !== 'https:' || connection.proxyUrl !== undefined) return '';
    const host = hostname.replace(/^\[|\]$/g, '');
    return new Promise((resolve) => {
      const { ca, servername } = connection.tls;
      // The calls have verified the server's identity; here the certificate is only read, and nothing is sent.
      const socket = connect({ host, port: Number(port || 443), ca, servername, rejectUnauthorized: false });
      const end = (fingerprint: string): void => {
        socket.destroy();
        resolve(fingerprint);
      };
      socket.setTimeout(certificateMs, () => end(''));
      socket.once('error', () => end(''));
      socket.once('secureConnect', () => end(socket.getPeerX509Certificate()?.fingerprint256 ?? ''));
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#sessions.close();
  }

  async #exchange(
    { connection, dispatcher, headers }: Session,
    { method = 'GET', path, body, contentType = 'application/json', accept }: PlainCall,
    signal?: AbortSignal,
  ): Promise<Omit<WireAnswer, 'release'>> {
    const { release, ...answer } = await exchange({
      ...{ dispatcher, origin: connection.origin, path: connection.basePath + path, method, signal },
      headers: {
        ...headers,
        ...(body !== undefined && { 'content-type': contentType }),
        ...(accept !== undefined && { accept }),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
      ...{ account: connection.label, answerBytesMax: pageBytesMax, timeoutMs: this.#timeoutMs },
    });
    release();
    return answer;
  }
}

/** A failed connection, in the words of all that call API servers. */
export function explainFailure(error: unknown, { connection }: Session): KubernetesConnectionError {
  const cause = error instanceof Error ? error : new Error('the connection broke');
  const message = `${connection.label}: ${describeConnectionFailure(cause, connection.origin)}`;
  return new KubernetesConnectionError(message, { cause });
}

function parseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}
