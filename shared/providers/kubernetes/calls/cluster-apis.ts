import { connect } from 'node:tls';
import {
  type Configuration,
  createConfiguration,
  HttpMethod,
  RequestContext,
  ResponseContext,
  SelfDecodingBody,
  ServerConfiguration,
  wrapHttpLibrary,
} from '@kubernetes/client-node';
import type { JsonValue } from '#core/json.ts';
import { pageBytesMax } from '../api/answer-limits.ts';
import { KubernetesConnectionError } from '../api/errors.ts';
import { findJson } from '../api/find-json.ts';
import { describeConnectionFailure } from '../transport/connection-failure.ts';
import { ExchangeError, exchange, type WireAnswer } from '../transport/exchange.ts';
import { toStatusFailure } from '../transport/http.ts';
import { type Session, SessionKeeper, type SessionOptions } from '../transport/session.ts';

/** Time limit of one call by default, seconds. */
const callSeconds = 15;

/** Time limit for reading the certificate of an API server, milliseconds. */
const certificateMs = 5_000;

/** Requests are made for it, and sent to the account's own. */
const origin = 'https://cluster';

/**
 * The APIs of a cluster, by the classes of `@kubernetes/client-node`, over our own connections: with the account's credentials, proxy and
 * impersonation, bounded in bytes and time. For code that inspects a cluster, or sets something up in it. Disposing cuts the connections.
 */
export class ClusterApis implements AsyncDisposable {
  readonly #sessions: SessionKeeper;
  readonly #timeoutMs: number;

  /** Makes no call yet. @param options `connection.requestTimeoutSeconds` limits one call. Default: 15 */
  constructor(options: SessionOptions) {
    this.#sessions = new SessionKeeper(options);
    this.#timeoutMs = (options.connection.requestTimeoutSeconds ?? callSeconds) * 1_000;
  }

  /**
   * An API, such as `CoreV1Api`. Its calls throw KubernetesApiError for a status from 300, KubernetesConnectionError, or the signal's
   * reason.
   */
  get<T>(Api: new (configuration: Configuration) => T, signal?: AbortSignal): T {
    const send = (request: RequestContext) => this.send(request, signal);
    return new Api(
      createConfiguration({
        baseServer: new ServerConfiguration(origin, {}),
        httpApi: wrapHttpLibrary({ send }),
      }),
    );
  }

  /** What is at a path, as it comes. @throws as calls of an API do */
  async read(path: string, signal?: AbortSignal): Promise<JsonValue | undefined> {
    const { body } = await this.send(new RequestContext(origin + path, HttpMethod.GET), signal);
    return findJson(await body.text());
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

  /** Sends a request once. @throws as calls of an API do */
  protected async send(request: RequestContext, signal?: AbortSignal): Promise<ResponseContext> {
    const session = await this.#sessions.get();
    const answer = await this.#exchange(session, request, signal).catch((error: unknown) => {
      throw error instanceof ExchangeError ? explainFailure(error.cause, session) : error;
    });
    if (answer.status === 401) this.#sessions.refuse(session);
    if (answer.status >= 300) throw toStatusFailure(answer, session).error;
    // An error of the package's parser would quote it.
    if (findJson(answer.body.toString('utf8')) === undefined)
      throw new KubernetesConnectionError(`${session.connection.label}: it answers something else than JSON`);
    const headers = { date: answer.headers.date ?? '', 'content-type': 'application/json' };
    return new ResponseContext(answer.status, headers, new SelfDecodingBody(Promise.resolve(answer.body)));
  }

  async #exchange(
    { connection, dispatcher, headers }: Session,
    request: RequestContext,
    signal: AbortSignal | undefined,
  ): Promise<Omit<WireAnswer, 'release'>> {
    const { pathname, search } = new URL(request.getUrl());
    const own = Object.entries(request.getHeaders()).map(([name, value]) => [name.toLowerCase(), value]);
    const { release, ...answer } = await exchange({
      ...{ dispatcher, origin: connection.origin, path: connection.basePath + pathname + search, signal },
      method: request.getHttpMethod(),
      headers: { ...headers, ...Object.fromEntries(own) },
      body: request.getBody()?.toString(),
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
