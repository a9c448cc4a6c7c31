import type { JsonBounds } from '#core/bounded-json.ts';
import { asJsonObject, type JsonObject } from '#core/json.ts';
import { HttpClient, type HttpRequest } from '#provider-kit/http-client/http-client.ts';
import { findJson } from '../api/find-json.ts';
import { findEnvironmentProxy } from './environment-proxy.ts';

/** The most bytes of an identity provider's answer: its metadata have about ten kilobytes, its tokens less. */
export const identityAnswerBytesMax = 2 ** 20;
const answerBounds: JsonBounds = { depthMax: 32, valuesMax: 10_000 };
/** From connecting to the last byte of the answer. */
const timeoutMs = 10_000;

/** How to reach a server that gives credentials. */
export interface ServerAccess {
  /** PEM of the authorities to trust; undefined for those that Node trusts. */
  readonly ca: string | undefined;
  /** May name a proxy. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Time limit of the whole exchange, milliseconds. Default: 10 s. */
  readonly timeoutMs?: number | undefined;
  /** The most bytes of its answer. Default: {@link identityAnswerBytesMax}. */
  readonly bytesMax?: number | undefined;
  /** Further headers, in lower case. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** A form to post. */
export interface PostedForm {
  readonly form: URLSearchParams;
  /** The Authorization header. */
  readonly authorization?: string | undefined;
}

/** An answer of any status. */
export interface JsonAnswer {
  readonly status: number;
  /** Empty if the body is not a JSON object. */
  readonly body: JsonObject;
}

/**
 * Reads a JSON object over HTTP or HTTPS, or posts a form for one. Follows no redirects.
 *
 * @throws Error that names the server and what went wrong, and quotes nothing of what was sent or answered.
 */
export async function requestJson(url: URL, access: ServerAccess, posted?: PostedForm): Promise<JsonAnswer> {
  const { ca, environment, bytesMax = identityAnswerBytesMax } = access;
  await using client = new HttpClient({ connections: 1, ca, proxy: findEnvironmentProxy(url, environment) });
  const headers = {
    accept: 'application/json',
    ...access.headers,
    ...(posted && { 'content-type': 'application/x-www-form-urlencoded' }),
    ...(posted?.authorization !== undefined && { authorization: posted.authorization }),
  };
  const request: HttpRequest = {
    ...{ url, headers, bytesMax, signal: AbortSignal.timeout(access.timeoutMs ?? timeoutMs) },
    ...(posted && { method: 'POST', body: posted.form.toString() }),
  };
  const { status, bytes } = await client.send(request).catch((error: unknown) => {
    throw new Error(`${url.origin} ${describeFailure(error)}`);
  });
  if (bytes === undefined) throw new Error(`${url.origin} answers more than ${bytesMax} bytes`);
  const text = Buffer.from(bytes).toString('utf8');
  return { status, body: asJsonObject(findJson(text, answerBounds)) ?? {} };
}

/** By its code alone: Node's messages may quote what was sent. */
function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return 'cannot be reached';
  if (error.name === 'AbortError' || error.name === 'TimeoutError') return 'did not answer in time';
  const code = 'code' in error && typeof error.code === 'string' ? ` (${error.code})` : '';
  return `cannot be reached${code}`;
}
