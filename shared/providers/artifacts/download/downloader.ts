import type { Dispatcher } from 'undici';
import { getPauseMs } from '#core/back-off.ts';
import type { Clock, Randomness } from '#core/clock.ts';
import { FailedOperationError, NotFoundError } from '#core/errors.ts';
import type { Logger } from '#core/logger.ts';
import type { ResolveHost } from '#provider-kit/http-client/guarded-lookup.ts';
import { CredentialsRefusedError } from './credentials-refused.ts';
import { type DownloadLimits, downloadLimits } from './download-limits.ts';
import {
  createSlots,
  downloadsPerAccountMax,
  type Slots,
  slotsOfProcess,
  takeAll,
} from './download-slots.ts';
import { type DownloadTime, startDownloadTime } from './download-time.ts';
import { type GuardedAgent, startGuardedAgent } from './guarded-agent.ts';
import {
  findErrorCode,
  type ResponseBodyOptions,
  readResponseBody,
  toDownloadError,
} from './response-body.ts';
import { assertUrlAllowed } from './url-guard.ts';
import type { UrlRestrictions } from './url-restrictions.ts';

/** Most redirects that are followed. Clouddriver's limit. */
export const redirectsMax = 10;

/**
 * How much of an answer waits for its caller, in bytes. Not more: with a host that answers in pieces of one byte, each takes a hundred
 * bytes of memory.
 */
export const readAheadBytesMax = 16 * 1024;

/**
 * Few, since Orca itself tries ten times; none begins after the window, so that callers behind a gateway get our answer rather than its
 * time-out.
 */
const retriesMax = 2;
const retryWindowMs = 10_000;
const backOff = { firstMs: 400, fixedShare: 0.5 };

/** Failures before any answer for which another attempt may help. A name that does not exist is not one. */
const retryableCodes = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EPIPE',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_SOCKET',
]);

const redirectStatuses = new Set([300, 301, 302, 303, 307, 308]);

/** The options of a downloader. */
export interface DownloaderOptions {
  /** Its artifact account, for messages and logs. */
  readonly account: string;
  readonly restrictions: UrlRestrictions;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly log: Logger;
  readonly limits?: Partial<DownloadLimits>;
  /** How names are resolved. The system's resolver by default. */
  readonly resolve?: ResolveHost;
  /** A scheme, host and port for which any certificate is accepted. None by default. */
  readonly insecureOrigin?: string | undefined;
  /** The limit on the downloads of all accounts together. The process's by default. */
  readonly sharedSlots?: Slots;
}

/**
 * Headers that hold credentials, by their names in lower case: `authorization`, or another that a host requires, like GitLab's
 * `private-token`. They replace no header that the downloader sends.
 */
export type CredentialHeaders = Readonly<Record<string, string>>;

/** A host's identification of the content that it sent, to ask later whether it is unchanged. */
export interface ContentVersion {
  readonly etag?: string | undefined;
  readonly lastModified?: string | undefined;
}

/** One request. */
export interface DownloadRequest {
  readonly url: URL;
  /** GET by default. A POST is not redirected, and is not retried once it was answered. */
  readonly method?: 'GET' | 'POST';
  /** The body of a POST. Default: empty. */
  readonly body?: { readonly mediaType: string; readonly text: string };
  /** Headers in addition to the downloader's, or replacing them, by their names in lower case. They hold no credentials. */
  readonly headers?: Readonly<Record<string, string>>;
  /** `Accept` header; anything by default. */
  readonly accept?: string;
  /** Headers with credentials, sent only to the scheme, host and port of `url`. */
  readonly credentials?: CredentialHeaders | undefined;
  /** What is already known of the content: if it is unchanged, it need not be sent again. */
  readonly known?: ContentVersion | undefined;
}

/** The answer of a host. */
export interface DownloadAnswer {
  /** The URL that was read: the target of the last redirect, if there was one. */
  readonly url: URL;
  readonly body: AsyncIterable<Uint8Array>;
  /** Whether the content is unchanged since the request's `known`; then the body is empty. */
  readonly isUnchanged: boolean;
  /** A header by its name in lower case; the first of several. */
  getHeader(name: string): string | undefined;
}

/** Reads URLs that users name, within an account's restrictions. */
export interface Downloader extends AsyncDisposable {
  /**
   * Sends the request, follows redirects, and returns the body as it arrives. Iterate it or abort the signal: otherwise the connection
   * stays open until the time of the download is over. Bodies of unsuccessful answers are not read.
   *
   * @throws UnavailableError if too many downloads are in progress, AccessDeniedError if the restrictions refuse the URL or a redirect of
   *   it, NotFoundError if the server answers 404, FailedOperationError for any other failure (while iterating, too), the signal's reason
   *   once that is aborted. Messages name only the host of the URL.
   */
  download(request: DownloadRequest, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
  /** Like `download`, but also returns headers. */
  open(request: DownloadRequest, signal: AbortSignal): Promise<DownloadAnswer>;
}

/** One request to one URL, without following redirects. */
interface Hop extends DownloadRequest {
  readonly method: 'GET' | 'POST';
  readonly signal: AbortSignal;
}

type Send = (hop: Hop) => Promise<Dispatcher.ResponseData>;

function createSend(agent: GuardedAgent, limits: DownloadLimits): Send {
  return ({ url, method, accept, body, credentials, headers, known, signal }) =>
    agent.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method,
      headers: {
        ...credentials,
        ...(known?.etag && { 'if-none-match': known.etag }),
        ...(known?.lastModified && { 'if-modified-since': known.lastModified }),
        accept: accept ?? '*/*',
        'accept-encoding': 'gzip',
        // GitHub's API refuses requests without a user agent.
        'user-agent': 'busdriver',
        ...(body && { 'content-type': body.mediaType }),
        ...headers,
      },
      body: body?.text ?? null,
      signal,
      headersTimeout: limits.headersTimeoutMs,
      bodyTimeout: limits.bodyTimeoutMs,
      highWaterMark: readAheadBytesMax,
    });
}

/** Opens a connection pool for one account. It connects on demand. */
export function startDownloader(options: DownloaderOptions): Downloader {
  const limits = { ...downloadLimits, ...options.limits };
  const { account, restrictions, resolve, insecureOrigin } = options;
  const { connectTimeoutMs } = limits;
  const agent = startGuardedAgent({ restrictions, resolve, insecureOrigin, connectTimeoutMs });
  const send = createSend(agent, limits);
  const slots = [
    createSlots(downloadsPerAccountMax, `Artifact account '${account}'`),
    options.sharedSlots ?? slotsOfProcess,
  ];

  async function follow(request: DownloadRequest, signal: AbortSignal) {
    const { method = 'GET', credentials, url: start } = request;
    let url = start;
    for (let redirects = 0; redirects <= redirectsMax; redirects += 1) {
      assertUrlAllowed(url, restrictions);
      const sameOrigin = url.origin === start.origin;
      const hop = { ...request, url, method, signal, credentials: sameOrigin ? credentials : undefined };
      const response = await sendWithRetries(hop, send, options);
      if (method !== 'GET' || !redirectStatuses.has(response.statusCode)) return { url, response };
      url = readRedirect(response, url);
    }
    throw new FailedOperationError(`Too many redirects (more than ${redirectsMax}) from ${start.host}`);
  }

  /** Returns the body, and calls `release` once nothing more of it arrives. */
  async function begin(
    request: DownloadRequest,
    time: DownloadTime,
    release: () => void,
  ): Promise<DownloadAnswer> {
    const { url, response } = await follow(request, time.signal);
    time.recordAnswer();
    if (response.body.closed) release();
    else response.body.once('close', release);
    const isUnchanged = request.known !== undefined && response.statusCode === 304;
    if (isUnchanged) response.body.destroy();
    else assertSuccess(response, url, account);
    const reading = { host: url.host, ...limits, clock: options.clock, signal: time.signal };
    return {
      url,
      body: isUnchanged ? readNothing() : readAnswer(response, reading),
      isUnchanged,
      getHeader: (name) => getHeader(response, name),
    };
  }

  async function open(request: DownloadRequest, signal: AbortSignal): Promise<DownloadAnswer> {
    signal.throwIfAborted();
    const giveBack = takeAll(slots);
    const time = startDownloadTime(request.url.host, limits, signal);
    const release = () => {
      giveBack();
      time.stop();
    };
    try {
      return await begin(request, time, release);
    } catch (error) {
      release();
      throw error;
    }
  }

  return {
    open,
    download: async (request, signal) => (await open(request, signal)).body,
    [Symbol.asyncDispose]: () => agent[Symbol.asyncDispose](),
  };
}

async function* readNothing(): AsyncIterable<Uint8Array> {}

function readAnswer(
  response: Dispatcher.ResponseData,
  options: Omit<ResponseBodyOptions, 'contentEncoding' | 'contentLength'>,
): AsyncIterable<Uint8Array> {
  return readResponseBody(response.body, {
    ...options,
    contentEncoding: getHeader(response, 'content-encoding'),
    contentLength: getHeader(response, 'content-length'),
  });
}

/** Retries failures before an answer, and a GET that the server failed to answer (5xx). */
async function sendWithRetries(
  hop: Hop,
  send: Send,
  { account, clock, log, randomness }: DownloaderOptions,
): Promise<Dispatcher.ResponseData> {
  const startedAtMs = clock.monotonic();
  for (let attempt = 1; ; attempt += 1) {
    const outcome = await tryHop(hop, send);
    const inTime = clock.monotonic() - startedAtMs < retryWindowMs;
    if (!outcome.retryable || attempt > retriesMax || !inTime) return getResponse(outcome, hop);
    outcome.response?.body.destroy();
    log.warn('Repeating a failed artifact download', { account, host: hop.url.host, attempt });
    await clock.sleep(getPauseMs(backOff, attempt, randomness), hop.signal);
  }
}

/** The outcome of one attempt: an answer or an error, and whether another attempt may help. */
interface Outcome {
  readonly response?: Dispatcher.ResponseData;
  readonly error?: unknown;
  readonly retryable: boolean;
}

async function tryHop(hop: Hop, send: Send): Promise<Outcome> {
  try {
    const response = await send(hop);
    // An unread body must not crash the process when its connection breaks.
    response.body.on('error', () => {});
    return { response, retryable: hop.method === 'GET' && response.statusCode >= 500 };
  } catch (error) {
    return { error, retryable: retryableCodes.has(findErrorCode(error)) };
  }
}

function getResponse({ response, error }: Outcome, { signal, url }: Hop): Dispatcher.ResponseData {
  if (response !== undefined) return response;
  signal.throwIfAborted();
  throw toDownloadError(error, url.host);
}

function readRedirect(response: Dispatcher.ResponseData, from: URL): URL {
  response.body.destroy();
  const location = getHeader(response, 'location')?.trim() ?? '';
  const target = location === '' ? null : URL.parse(location, from.href);
  if (target !== null) return target;
  throw new FailedOperationError(
    `Received a redirect (${response.statusCode}) without a target from ${from.host}`,
  );
}

function assertSuccess(response: Dispatcher.ResponseData, url: URL, account: string): void {
  const { body, statusCode } = response;
  if (statusCode >= 200 && statusCode < 300) return;
  body.destroy();
  const message = `Received ${statusCode} status code from ${url.host} (artifact account '${account}')`;
  if (statusCode === 401) {
    const challenge = [response.headers['www-authenticate'] ?? []].flat().join(', ');
    throw new CredentialsRefusedError(message, { origin: url.origin, challenge });
  }
  throw statusCode === 404 ? new NotFoundError(message) : new FailedOperationError(message);
}

function getHeader(response: Dispatcher.ResponseData, name: string): string | undefined {
  const value = response.headers[name];
  return Array.isArray(value) ? value[0] : value;
}
