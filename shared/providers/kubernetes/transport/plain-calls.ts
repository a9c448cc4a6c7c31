import { connect } from 'node:tls';
import type { JsonValue } from '#core/json.ts';
import { exchange } from './exchange.ts';
import { SessionKeeper, type SessionOptions } from './session.ts';

/** The most bytes of an answer: objects and lists of keys, never lists of objects. */
const answerBytesMax = 4 * 2 ** 20;

/** Time limit of one call, milliseconds. */
const callMs = 15_000;

/** Time limit for reading the certificate of an API server, milliseconds. */
const certificateMs = 5_000;

/** One call of an API server. */
export interface PlainCall {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
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

  /** Makes no call yet. */
  constructor(options: SessionOptions) {
    this.#sessions = new SessionKeeper(options);
  }

  /** Where the API server is, and where objects without a namespace go. @throws KubernetesConnectionError */
  async locate(): Promise<{ readonly url: string; readonly namespace: string }> {
    const { connection } = await this.#sessions.get();
    return { url: connection.origin + connection.basePath, namespace: connection.namespace };
  }

  /** Makes a call. @throws KubernetesConnectionError, or what the connection throws; never for a status */
  async call({
    method,
    path,
    body,
    contentType = 'application/json',
    accept,
  }: PlainCall): Promise<PlainAnswer> {
    const { connection, dispatcher, headers } = await this.#sessions.get();
    const answer = await exchange({
      ...{ dispatcher, origin: connection.origin, path: connection.basePath + path, method },
      headers: {
        ...headers,
        ...(body !== undefined && { 'content-type': contentType }),
        ...(accept !== undefined && { accept }),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
      ...{ account: connection.label, answerBytesMax, timeoutMs: callMs, signal: undefined },
    });
    const text = answer.body.toString('utf8');
    answer.release();
    return { status: answer.status, body: parseJson(text), date: answer.headers.date ?? '' };
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
}

function parseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}
