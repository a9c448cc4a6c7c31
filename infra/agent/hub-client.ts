import { readFile } from 'node:fs/promises';
import { Agent, type Dispatcher, EnvHttpProxyAgent, request } from 'undici';
import { isJsonObject } from '../../shared/core/json.ts';

/** Milliseconds for one call. */
const callMs = 10_000;

/** Bytes of an answer at most: a task with its operations is the largest. */
const answerBytesMax = 32 * 2 ** 20;

/** One call of Busdriver. */
export interface HubCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below the URL of Busdriver: `/agent/v1/…`. */
  readonly path: string;
  readonly token: string;
  /** Sent as JSON. Default: nothing. */
  readonly body?: unknown;
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
}

/** Calls Busdriver over HTTP, through the proxies that the environment names. */
export class HubClient implements AsyncDisposable {
  readonly #url: string;
  readonly #dispatcher: Dispatcher;

  constructor(url: string, dispatcher: Dispatcher = new Agent()) {
    this.#url = url;
    this.#dispatcher = dispatcher;
  }

  /** @throws HubAwayError, or HubRefusalError for what is refused in another way than with 409 */
  async call({ method, path, token, body, signal }: HubCall): Promise<HubAnswer> {
    const timeout = AbortSignal.timeout(callMs);
    const headers = {
      authorization: `Bearer ${token}`,
      accept: 'application/json',
      'user-agent': 'busdriver-agent',
    };
    const isSent = body !== undefined;
    try {
      const answer = await request(`${this.#url}${path}`, {
        method,
        dispatcher: this.#dispatcher,
        headers: isSent ? { ...headers, 'content-type': 'application/json' } : headers,
        body: isSent ? JSON.stringify(body) : null,
        signal: signal === undefined ? timeout : AbortSignal.any([timeout, signal]),
      });
      return toAnswer(answer.statusCode, await readText(answer.body));
    } catch (error) {
      if (error instanceof HubRefusalError || error instanceof HubAwayError) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      throw new HubAwayError(`${method} ${path} failed: ${reason}`, { cause: error });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#dispatcher.destroy();
  }
}

/** Opens a client. @throws Error when the file of certificates cannot be read */
export async function openHubClient(url: string, caFile: string | undefined): Promise<HubClient> {
  const ca = caFile === undefined ? undefined : await readFile(caFile, 'utf8');
  const tls = ca === undefined ? {} : { connect: { ca }, requestTls: { ca } };
  return new HubClient(url, new EnvHttpProxyAgent(tls));
}

function toAnswer(status: number, text: string): HubAnswer {
  const body = parseJson(text);
  if (status < 300 || status === 409) return { status, body };
  const message =
    isJsonObject(body) && typeof body['message'] === 'string' ? body['message'] : `status ${status}`;
  const errors = isJsonObject(body) && Array.isArray(body['errors']) ? `: ${body['errors'].join('; ')}` : '';
  if (status >= 500 || status === 429) throw new HubAwayError(`Busdriver answered ${status}: ${message}`);
  throw new HubRefusalError(status, `Busdriver answered ${status}: ${message}${errors}`);
}

function parseJson(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function readText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.byteLength;
    if (bytes > answerBytesMax)
      throw new HubAwayError(`Busdriver's answer is larger than ${answerBytesMax} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}
