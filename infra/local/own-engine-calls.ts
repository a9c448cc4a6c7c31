import { channel } from 'node:diagnostics_channel';
import { getErrorMessage } from '../../shared/core/errors.ts';
import type {
  DirectClientOptions,
  DirectHandler,
  DirectRequest,
  DirectResponse,
  DirectTry,
} from '../../shared/runtime/services/direct-client.ts';
import type { EngineClientOptions } from './engine-access.ts';

/** A request as an engine looks at it, after it was admitted: `POST /`. */
export interface EngineRequest {
  /** By names in lower case. */
  readonly headers: { readonly [name: string]: string };
  readonly body: string;
}

/** What an engine answers. */
export interface EngineAnswer {
  readonly status: number;
  /** By names in lower case. */
  readonly headers: { readonly [name: string]: string };
  readonly body: string;
}

/** One call of an engine. */
export interface EngineCall {
  /** Calls `listener` when the caller goes away: he gets no messages. May be called after an answer, too. */
  onClose(listener: () => void): void;
}

/** Answers a request. @throws never for what a client may send: a refusal is an answer */
export type AnswerRequest = (request: EngineRequest, call: EngineCall) => Promise<EngineAnswer>;

/** What the clients of this process are made with to reach an engine without a socket. */
export type OwnClientOptions = EngineClientOptions & DirectClientOptions;

/**
 * Makes options for clients of this process. Their requests are those that go over sockets, in the same words; but who can call a function
 * of the engine need not prove who he is, so nothing signs them, and nothing checks a signature.
 *
 * @param tryMs milliseconds of one try, after which it fails as over a socket. Default: as long as it takes.
 */
export function toOwnClientOptions(
  answer: AnswerRequest,
  options: EngineClientOptions,
  tryMs?: number,
): OwnClientOptions {
  return {
    ...options,
    requestHandler: new OwnEngineHandler(answer, tryMs),
    httpAuthSchemes: [
      {
        schemeId: 'aws.auth#sigv4',
        identityProvider: () => async () => ({}),
        signer: { sign: async (request) => request },
      },
    ],
  };
}

/** Is told of each call of an engine in this process, with the headers of its request: nobody listens but who counts calls. */
const callChannel = channel('busdriver:engine:call');

/** Hands requests of the SDK to an engine in this process. */
class OwnEngineHandler implements DirectHandler {
  readonly metadata = { handlerProtocol: 'http/1.1' };
  readonly #answer: AnswerRequest;
  readonly #tryMs: number | undefined;

  constructor(answer: AnswerRequest, tryMs: number | undefined) {
    this.#answer = answer;
    this.#tryMs = tryMs;
  }

  /** @throws TimeoutError; AbortError; what keeps the engine from answering */
  async handle(
    { headers, body }: DirectRequest,
    { abortSignal, requestTimeout = this.#tryMs }: DirectTry = {},
  ): Promise<{ response: DirectResponse }> {
    if (abortSignal?.aborted) throw toAbortError(abortSignal);
    callChannel.publish({ headers });
    const closing: (() => void)[] = [];
    const { promise, resolve, reject } = Promise.withResolvers<EngineAnswer>();
    const giveUp = (error: Error): void => {
      reject(error);
      for (const close of closing) close();
    };
    const abort = (): void => giveUp(toAbortError(abortSignal));
    const timer =
      requestTimeout === undefined
        ? undefined
        : setTimeout(() => giveUp(toTimeout(requestTimeout)), requestTimeout);
    abortSignal?.addEventListener('abort', abort);
    const onClose = (listener: () => void): void => void closing.push(listener);
    this.#answer({ headers, body: toText(body) }, { onClose }).then(resolve, reject);
    try {
      return { response: toResponse(await promise) };
    } finally {
      clearTimeout(timer);
      abortSignal?.removeEventListener('abort', abort);
    }
  }

  destroy(): void {}
}

function toResponse({ status, headers, body }: EngineAnswer): DirectResponse {
  return { statusCode: status, headers: { ...headers }, body: Buffer.from(body) };
}

function toText(body: unknown): string {
  if (body instanceof Uint8Array) return Buffer.from(body.buffer, body.byteOffset, body.length).toString();
  return typeof body === 'string' ? body : '';
}

/** By these names the SDK knows what it may repeat. */
function toTimeout(ms: number): Error {
  return Object.assign(new Error(`The engine did not answer within ${ms} ms`), { name: 'TimeoutError' });
}

function toAbortError(signal: AbortSignal | undefined): Error {
  const cause: unknown = signal?.reason;
  return Object.assign(new Error(`Request aborted: ${getErrorMessage(cause)}`, { cause }), {
    name: 'AbortError',
  });
}
