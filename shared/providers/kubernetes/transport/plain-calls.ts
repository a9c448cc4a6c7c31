import { connect } from 'node:tls';
import type { JsonValue } from '#core/json.ts';
import { exchange } from './exchange.ts';
import { SessionKeeper, type SessionOptions } from './session.ts';

/** Bytes of an answer at most: objects and lists of keys, never lists of objects. */
const answerBytesMax = 4 * 2 ** 20;

/** Milliseconds for one call. */
const callMs = 15_000;

/** Milliseconds for looking at the certificate of an API server. */
const certificateMs = 5_000;

/** One call of an API server. */
export interface PlainCall {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Below the address of the API server, with its query: `/version`. */
  readonly path: string;
  /** Sent as JSON. Default: nothing. */
  readonly body?: unknown;
  /** Default: `application/json`. */
  readonly contentType?: string;
  /** What is wanted, where it is another JSON than that of objects. */
  readonly accept?: string;
}

/** What was answered. */
export interface PlainAnswer {
  readonly status: number;
  /** Parsed from JSON; undefined for what is none. */
  readonly body: JsonValue | undefined;
  /** The header `Date`, empty without one. */
  readonly date: string;
}

/**
 * Single calls of an API server, each made once: for who looks at a cluster, or sets something up in it, and tells a user what it
 * answers. Disposing cuts the connections.
 */
export class PlainCalls implements AsyncDisposable {
  readonly #sessions: SessionKeeper;

  /** Calls nobody yet. */
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
   * SHA-256 of the certificate that the API server shows: hexadecimal, with colons. Empty where there is none, or it cannot be looked at
   * directly, as behind a proxy. Nothing is sent.
   */
  async findCertificate(): Promise<string> {
    const { connection } = await this.#sessions.get();
    const { protocol, hostname, port } = new URL(connection.origin);
    if (protocol !== 'https:' || connection.proxyUrl !== undefined) return '';
    const host = hostname.replace(/^\[|\]$/g, '');
    return new Promise((resolve) => {
      const { ca, servername } = connection.tls;
      // Who it is has been verified by the calls; here one looks, and speaks no word.
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
