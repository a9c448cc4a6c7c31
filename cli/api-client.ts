import { getErrorMessage } from '#core/errors.ts';
import { asJsonArray, asString, getPath, type JsonValue, parseJson } from '#core/json.ts';
import { ApiError, CliError } from './cli-error.ts';
import { toLine } from './terminal.ts';

/** Milliseconds that one request may take, where nothing else is said. */
const usualTimeoutMs = 60_000;

/** Bytes of the largest answer that is read: some ten thousand accounts. */
const answerBytesMax = 64 * 1024 * 1024;

/** Characters of an error that are shown. */
const errorLengthMax = 2_000;

/** Whom to call, and as whom. */
export interface ApiClientOptions {
  /** Without a slash at the end. */
  readonly url: string;
  /** Spinnaker's user, for `X-SPINNAKER-USER`. */
  readonly user?: string | undefined;
  /** A bearer token. */
  readonly token?: string | undefined;
  /** Further headers. Default: none. */
  readonly headers?: { readonly [name: string]: string };
  /** The next step when there is no answer. */
  readonly nextIfSilent: string;
  /** Milliseconds that one request may take. Default: a minute. */
  readonly timeoutMs?: number;
}

/** A request, but for where it goes. */
interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly body?: JsonValue;
}

/** An answer. */
export interface ApiAnswer {
  /** The body; undefined where it is empty. */
  readonly body: JsonValue | undefined;
  readonly headers: Headers;
}

/** Calls the HTTP API of Busdriver, of a Clouddriver or of a go-clouddriver. */
export class ApiClient {
  readonly url: string;
  readonly #options: ApiClientOptions;

  constructor(options: ApiClientOptions) {
    this.url = options.url;
    this.#options = options;
  }

  /** The body of an answer. @throws what `send` throws */
  async get(path: string): Promise<JsonValue | undefined> {
    const { body } = await this.send(path);
    return body;
  }

  /**
   * Sends a request once.
   *
   * @param path with its query, encoded
   * @throws ApiError for the answer of an error; CliError when there is no answer, or it is too large or no JSON
   */
  async send(path: string, { method, body }: ApiRequest = { method: 'GET' }): Promise<ApiAnswer> {
    const { user, token, headers, nextIfSilent, timeoutMs = usualTimeoutMs } = this.#options;
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      const response = await fetch(this.url + path, {
        method,
        signal,
        // A redirect would take the token and the accounts elsewhere.
        redirect: 'manual',
        headers: {
          ...headers,
          Accept: 'application/json',
          ...(user !== undefined && { 'X-SPINNAKER-USER': user }),
          ...(token !== undefined && { Authorization: `Bearer ${token}` }),
          ...(body !== undefined && { 'Content-Type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await readText(response.body ?? [], this.url);
      if (!response.ok) throw toApiError(response, text);
      return { body: text.trim() === '' ? undefined : this.#parse(text), headers: response.headers };
    } catch (error) {
      if (error instanceof CliError) throw error;
      const reason = signal.aborted ? `nothing came within ${timeoutMs / 1_000} s` : describeCause(error);
      throw new CliError(`${this.url} does not answer: ${reason}`, { next: nextIfSilent, cause: error });
    }
  }

  #parse(text: string): JsonValue {
    const value = parseJson(text) as JsonValue | undefined;
    if (value !== undefined) return value;
    const next = 'look whether the URL is that of the API itself';
    throw new CliError(`${this.url} answers something else than JSON`, { next });
  }
}

/** @throws CliError naming the server, where it sends too much */
async function readText(
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  url: string,
): Promise<string> {
  const decoder = new TextDecoder();
  let bytes = 0;
  let text = '';
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > answerBytesMax)
      throw new CliError(`${url} answers more than ${answerBytesMax} bytes: no more are read`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** The three forms of errors: Clouddriver's `errors` and `message`, go-clouddriver's `error`. */
function toApiError({ status, headers }: Response, text: string): ApiError {
  if (status >= 300 && status < 400) {
    return new ApiError(
      status,
      `${status}: it redirects to ${toLine(headers.get('location') ?? 'another place')}`,
      'name the URL of the API itself',
    );
  }
  const body = parseJson(text);
  const errors = asJsonArray(getPath(body, 'errors')).map(String);
  const told =
    errors.length > 0
      ? errors.join('; ')
      : (asString(getPath(body, 'message')) ?? asString(getPath(body, 'error')) ?? text);
  const message = toLine(told).slice(0, errorLengthMax) || 'without a reason';
  return new ApiError(status, `${status}: ${message}`, findNext(status, message));
}

/** The next step after an error, where that is known. */
function findNext(status: number, message: string): string | undefined {
  return nextSteps.find((step) => step.status === status && step.pattern.test(message))?.next;
}

const anyMessage = /^/;

/** The first that fits counts. */
const nextSteps: readonly {
  readonly status: number;
  readonly pattern: RegExp;
  readonly next: string;
}[] = [
  {
    status: 400,
    pattern: /AccountDefinitionService/,
    next: 'set account.storage.enabled: true in the settings of that server',
  },
  {
    status: 400,
    pattern: /holds a secret/,
    next: 'put it into a secret and name that, such as by --kubeconfig-secret, or set busdriver.accounts.allowPlainSecrets: true',
  },
  {
    status: 400,
    pattern: /kubeconfigFile|serviceAccount/,
    next: 'put the kubeconfig into a secret and name that by --kubeconfig-secret, or set busdriver.accounts.allowMachineAccess: true',
  },
  {
    status: 400,
    pattern: /already exists/,
    next: 'choose another name; busdriver accounts list has those that there are',
  },
  { status: 401, pattern: anyMessage, next: 'set BUSDRIVER_TOKEN to the token that it asks for' },
  {
    status: 403,
    pattern: /without Fiat/,
    next: 'call localhost on the machine itself, through no proxy, or set busdriver.accounts.writableWithoutFiat: true',
  },
  { status: 403, pattern: anyMessage, next: 'name a user who may, by --user' },
  { status: 404, pattern: /stands in/, next: 'look for its changes where that file is kept' },
  { status: 404, pattern: /account/i, next: 'busdriver accounts list has the accounts that there are' },
  { status: 404, pattern: anyMessage, next: 'look whether the URL is right, and the server new enough' },
  { status: 405, pattern: anyMessage, next: 'look whether the URL is right, and the server new enough' },
  { status: 429, pattern: anyMessage, next: 'try again in a moment' },
  { status: 503, pattern: anyMessage, next: 'try again in a moment' },
];

/** `fetch` has the reason in the cause of its error. */
function describeCause(error: unknown): string {
  return toLine(getErrorMessage(error instanceof Error ? (error.cause ?? error) : error)) || 'no connection';
}
