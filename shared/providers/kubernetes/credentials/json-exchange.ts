import { Agent as HttpAgent, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import type { JsonBounds } from '#core/bounded-json.ts';
import { gatherBytes } from '#core/gathered-bytes.ts';
import { asJsonObject, type JsonObject } from '#core/json.ts';
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
  const agent = createAgent(url, findEnvironmentProxy(url, access.environment));
  try {
    return await exchange(url, { ...access, agent }, posted);
  } catch (error) {
    throw new Error(`${url.origin} ${describeFailure(error)}`);
  } finally {
    agent.destroy();
  }
}

/** For one exchange. */
function createAgent({ protocol }: URL, proxy: string | undefined): HttpAgent {
  if (protocol === 'http:')
    return new HttpAgent(proxy === undefined ? {} : { proxyEnv: { HTTP_PROXY: proxy } });
  return new HttpsAgent(proxy === undefined ? {} : { proxyEnv: { HTTPS_PROXY: proxy } });
}

/** An answer that is too large or not as expected. */
class AnswerError extends Error {}

function exchange(
  url: URL,
  { ca, agent, ...access }: ServerAccess & { readonly agent: HttpAgent },
  posted: PostedForm | undefined,
): Promise<JsonAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<JsonAnswer>();
  const headers = {
    accept: 'application/json',
    ...access.headers,
    ...(posted && { 'content-type': 'application/x-www-form-urlencoded' }),
    ...(posted?.authorization !== undefined && { authorization: posted.authorization }),
  };
  const method = posted === undefined ? 'GET' : 'POST';
  const signal = AbortSignal.timeout(access.timeoutMs ?? timeoutMs);
  const request = url.protocol === 'http:' ? requestHttp : requestHttps;
  const sent = request(url, { method, headers, agent, signal, ...(ca !== undefined && { ca }) });
  sent.on('error', reject);
  sent.on('response', (response) => {
    readBody(response, access.bytesMax ?? identityAnswerBytesMax).then(
      (text) =>
        resolve({ status: response.statusCode ?? 0, body: asJsonObject(findJson(text, answerBounds)) ?? {} }),
      reject,
    );
  });
  sent.end(posted?.form.toString());
  return promise;
}

async function readBody(response: AsyncIterable<Buffer>, bytesMax: number): Promise<string> {
  const bytes = await gatherBytes(response, bytesMax);
  if (bytes === undefined) throw new AnswerError(`answers more than ${bytesMax} bytes`);
  return Buffer.from(bytes).toString('utf8');
}

/** By its code alone: Node's messages may quote what was sent. */
function describeFailure(error: unknown): string {
  if (error instanceof AnswerError) return error.message;
  if (!(error instanceof Error)) return 'cannot be reached';
  if (error.name === 'AbortError' || error.name === 'TimeoutError') return 'did not answer in time';
  const code = 'code' in error && typeof error.code === 'string' ? ` (${error.code})` : '';
  return `cannot be reached${code}`;
}
