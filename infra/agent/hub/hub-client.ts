import { readFile } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import type { ConnectionOptions } from 'node:tls';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { Agent, type buildConnector, type Dispatcher, errors, request, WebSocket } from 'undici';
import { getRandomMs } from '#core/back-off.ts';
import type { Randomness } from '#core/clock.ts';
import { getErrorMessage } from '#core/errors.ts';
import { isJsonObject, parseJson } from '#core/json.ts';
import { findEnvironmentProxy } from '#providers/kubernetes/credentials/environment-proxy.ts';
import { createProxyConnector } from '#providers/kubernetes/credentials/proxy-tunnel.ts';
import { HintConnection } from './hint-connection.ts';
import type { HintLine, HintLineOptions } from './hint-line.ts';
import type { CallEnd } from './return-place.ts';

/** Milliseconds for one call. */
export const callMs = 10_000;

/** Milliseconds for a connection. */
const connectTimeoutMs = 5_000;

const unpack = promisify(gunzip);

/** Bytes of an answer at most, as it comes and unpacked: a task with its operations is the largest. */
const answerBytesMax = 32 * 2 ** 20;

/** Tells the headers that sign a request. @throws Error where nothing is there to sign with */
export type RequestSigner = (request: {
  readonly method: string;
  readonly url: URL;
  readonly body: string;
}) => Promise<Readonly<Record<string, string>>>;

/** One call of Busdriver. */
export interface HubCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below the URL of Busdriver: `/agent/v1/…`. */
  readonly path: string;
  /** Empty: nothing but the certificate of the connection proves who calls. */
  readonly token: string;
  /** Signs it, over HTTP. Default: it is not signed. */
  readonly sign?: RequestSigner | undefined;
  /** Sent as JSON. Default: nothing. */
  readonly body?: unknown;
  /** The same as JSON text gzipped, for who can send bytes. Default: it is not packed. */
  readonly packed?: Uint8Array | undefined;
  /** Milliseconds that it may take. Default: 10 seconds. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What Busdriver answered. */
export interface HubAnswer {
  /** From 200 to 299, or 409. */
  readonly status: number;
  /** Parsed from JSON; undefined where there is none. */
  readonly body: unknown;
}

/** Busdriver refused a call. The message is its own, and quotes nothing of the call. */
export class HubRefusalError extends Error {
  override name = 'HubRefusalError';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Busdriver did not answer, or cannot for the moment: the same call may succeed later. */
export class HubAwayError extends Error {
  override name = 'HubAwayError';
  /** Whether it was asked for too much: 429 or 503. */
  readonly isBusy: boolean;
  /** Milliseconds after which to come again, as far as it says; else 0. */
  readonly retryAfterMs: number;
  /** Whether it answered, the connection was lost, or the answer only took too long. */
  readonly end: CallEnd;

  constructor(
    message: string,
    {
      isBusy = false,
      retryAfterMs = 0,
      end = 'unknown',
      ...options
    }: ErrorOptions & Partial<Pick<HubAwayError, 'isBusy' | 'retryAfterMs' | 'end'>> = {},
  ) {
    super(message, options);
    this.isBusy = isBusy;
    this.retryAfterMs = retryAfterMs;
    this.end = end;
  }
}

/** An agent comes again so much later than it was asked to, at most: others got the same time. Milliseconds. */
const retryLateMs = 3_000;

/** Milliseconds for which Busdriver wants to be left alone, by what it answered; 0 where it does not say. */
export function getRetryAfterMs(error: unknown, randomness: Pick<Randomness, 'fraction'>): number {
  return addLateness(error instanceof HubAwayError ? error.retryAfterMs : 0, randomness);
}

/** The milliseconds after which an agent comes that was asked to come after so many; 0 where it was not asked. */
export function addLateness(toldMs: number, randomness: Pick<Randomness, 'fraction'>): number {
  return toldMs === 0 ? 0 : toldMs + getRandomMs(Math.min(toldMs, retryLateMs), randomness);
}

/** Replaces the connections to Busdriver where there is reason to. @returns undefined where there is none */
type Reconnect = () => Promise<Dispatcher | undefined>;

/** Calls Busdriver over HTTP, through the proxies that the environment names. */
export class HubClient implements AsyncDisposable {
  readonly #url: string;
  readonly #reconnect: Reconnect | undefined;
  #dispatcher: Dispatcher;

  /** @param reconnect asked when a call found no connection, or was not believed. Default: connections stay as they are */
  constructor(url: string, dispatcher: Dispatcher = new Agent(), reconnect?: Reconnect) {
    this.#url = url;
    this.#dispatcher = dispatcher;
    this.#reconnect = reconnect;
  }

  /** @throws HubAwayError, or HubRefusalError for what is refused in another way than with 409 */
  async call({
    method,
    path,
    token,
    sign,
    signal,
    timeoutMs = callMs,
    ...call
  }: HubCall): Promise<HubAnswer> {
    const url = new URL(`${this.#url}${path}`);
    const { type, body } = toBody(call);
    const signed = await sign?.({ method, url, body: typeof body === 'string' ? body : '' });
    const timeout = AbortSignal.timeout(timeoutMs);
    const headers = {
      ...(token !== '' && { authorization: `Bearer ${token}` }),
      ...signed,
      accept: 'application/json',
      'accept-encoding': 'gzip',
      'user-agent': 'busdriver-agent',
    };
    try {
      const answer = await request(url, {
        method,
        dispatcher: this.#dispatcher,
        headers: type === undefined ? headers : { ...headers, 'content-type': type },
        body,
        signal: signal === undefined ? timeout : AbortSignal.any([timeout, signal]),
      });
      const retryMs = toRetryMs(answer.headers['retry-after']);
      const text = await readText(answer.body, answer.headers['content-encoding'] === 'gzip');
      // Only then is the connection free: who calls again at once would be given another one.
      await setImmediate();
      return toHubAnswer(answer.statusCode, parseJson(text), retryMs);
    } catch (error) {
      if (signal?.aborted !== true) await this.#renew(error);
      if (error instanceof HubRefusalError || error instanceof HubAwayError) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      const end = timeout.aborted || signal?.aborted === true ? 'unknown' : 'lost';
      throw new HubAwayError(`${method} ${path} failed: ${reason}`, { cause: error, end });
    }
  }

  /** The next call has other connections where the files of TLS have changed: certificates of agents do not last for long. */
  async #renew(error: unknown): Promise<void> {
    // Any other answer means that the connection was accepted.
    if (error instanceof HubAwayError || (error instanceof HubRefusalError && error.status !== 401)) return;
    const next = await this.#reconnect?.();
    if (next === undefined) return;
    const before = this.#dispatcher;
    this.#dispatcher = next;
    // Calls under way on the former ones end there.
    before.close().catch(() => undefined);
  }

  /**
   * Begins to connect for hints, by the same way as a call.
   *
   * @returns undefined where Busdriver gives no address
   * @throws Error for an address that a token must not be sent to
   */
  connect({ welcome, ...options }: HintLineOptions): HintLine | undefined {
    const { hintUrl: address = '', token } = welcome;
    if (address === '') return undefined;
    const url = address.startsWith('/') ? new URL(`${this.#url}${address}`) : new URL(address);
    url.protocol = url.protocol.replace(/^http/, 'ws');
    // The target of a path was checked with the settings.
    if (!address.startsWith('/') && url.protocol !== 'wss:')
      throw new Error('the address for hints is no URL that begins with wss://');
    const headers = { authorization: `Bearer ${token}`, 'user-agent': 'busdriver-agent' };
    return new HintConnection({
      ...options,
      socket: new WebSocket(url, { dispatcher: this.#dispatcher, headers }),
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#dispatcher.destroy();
  }
}

/** How the TLS connection to Busdriver is made. Paths are absolute. */
export interface HubTls {
  /** The certificates that signed Busdriver's. Default: those that Node knows. */
  readonly caFile: string | undefined;
  /** The name in Busdriver's certificate, where it is not that of the URL. */
  readonly serverName: string | undefined;
  /** Whether Busdriver's certificate is not looked at. */
  readonly skipsVerification: boolean;
  /** The agent's own certificate and key, PEM, and the key's password. */
  readonly certFile: string | undefined;
  readonly keyFile: string | undefined;
  readonly keyPassword: string | undefined;
}

/** How Busdriver is reached. */
export interface HubAccess {
  readonly url: string;
  readonly tls: HubTls;
  /** Whether the proxies that the environment names are passed by. */
  readonly noProxy: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Called when Busdriver, or what lies between, ends a connection for calls. Default: nothing is called. */
  onConnectionEnd?(): void;
}

/** Opens a client. @throws Error when a file cannot be read, or the environment names no proxy where it should */
export async function openHubClient(access: HubAccess): Promise<HubClient> {
  const { url, tls } = access;
  let options = await readTlsOptions(tls);
  return new HubClient(url, openDispatcher(access, options), async () => {
    const now = await readTlsOptions(tls).catch(() => options);
    if (JSON.stringify(now) === JSON.stringify(options)) return undefined;
    options = now;
    return openDispatcher(access, options);
  });
}

function openDispatcher(
  { url, noProxy, environment, onConnectionEnd }: HubAccess,
  options: ConnectionOptions,
): Dispatcher {
  const proxyUrl = noProxy ? undefined : findEnvironmentProxy(new URL(url), environment);
  const connect: buildConnector.connector | object =
    proxyUrl === undefined
      ? { ...options, timeout: connectTimeoutMs }
      : createProxyConnector({ proxyUrl, tls: options, connectTimeoutMs });
  return new Agent({ connect }).on('disconnect', (_url, _targets, error) => {
    // Others end here: they were idle for long, or are not needed any more.
    if (error instanceof errors.SocketError) onConnectionEnd?.();
  });
}

/** The options of Node's TLS that these settings mean. @throws Error naming the setting whose file cannot be read */
export async function readTlsOptions(tls: HubTls): Promise<ConnectionOptions> {
  const { serverName, skipsVerification, keyPassword } = tls;
  const [ca, cert, key] = await Promise.all([
    readPem(tls.caFile, 'certificates of Busdriver'),
    readPem(tls.certFile, "agent's certificate"),
    readPem(tls.keyFile, "key of the agent's certificate"),
  ]);
  return {
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(cert !== undefined && key !== undefined && { key }),
    ...(keyPassword !== undefined && { passphrase: keyPassword }),
    ...(serverName !== undefined && { servername: serverName }),
    ...(skipsVerification && { rejectUnauthorized: false }),
  };
}

async function readPem(file: string | undefined, what: string): Promise<string | undefined> {
  if (file === undefined) return undefined;
  return readFile(file, 'utf8').catch((error: unknown) => {
    throw new Error(`the ${what} cannot be read: ${getErrorMessage(error)}`, { cause: error });
  });
}

function toBody({ body, packed }: Pick<HubCall, 'body' | 'packed'>): {
  readonly type: string | undefined;
  readonly body: string | Uint8Array | null;
} {
  if (packed !== undefined) return { type: 'application/gzip', body: packed };
  if (body === undefined) return { type: undefined, body: null };
  return { type: 'application/json', body: JSON.stringify(body) };
}

/** Milliseconds, of seconds; dates are not looked at. An hour at most: what says more is broken. */
export function toRetryMs(retryAfter: string | readonly string[] | number | undefined): number {
  const seconds = Number(retryAfter);
  return Number.isFinite(seconds) && seconds > 0 ? Math.min(seconds, 3_600) * 1_000 : 0;
}

/** @throws HubAwayError for 429 and from 500, HubRefusalError from 300 but for 409 @param retryMs when to come again; 0: not given */
export function toHubAnswer(status: number, body: unknown, retryMs = 0): HubAnswer {
  if (status < 300 || status === 409) return { status, body };
  const message =
    isJsonObject(body) && typeof body['message'] === 'string' ? body['message'] : `status ${status}`;
  const errors = isJsonObject(body) && Array.isArray(body['errors']) ? `: ${body['errors'].join('; ')}` : '';
  if (status >= 500 || status === 429) {
    const isBusy = status === 429 || status === 503;
    const options = { isBusy, retryAfterMs: retryMs, end: 'answered' } as const;
    throw new HubAwayError(`Busdriver answered ${status}: ${message}`, options);
  }
  throw new HubRefusalError(status, `Busdriver answered ${status}: ${message}${errors}`);
}

async function readText(body: AsyncIterable<Uint8Array>, isPacked: boolean): Promise<string> {
  const bytes = await readBytes(body);
  if (!isPacked) return bytes.toString('utf8');
  try {
    return (await unpack(bytes, { maxOutputLength: answerBytesMax })).toString('utf8');
  } catch (error) {
    if (error instanceof RangeError) throw tooLarge(error);
    throw error;
  }
}

async function readBytes(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.byteLength;
    if (bytes > answerBytesMax) throw tooLarge();
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

function tooLarge(cause?: unknown): HubAwayError {
  return new HubAwayError(`Busdriver's answer is larger than ${answerBytesMax} bytes`, { cause });
}
