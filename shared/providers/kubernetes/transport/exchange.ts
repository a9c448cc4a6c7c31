import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { AnswerLimitError, errorBytesMax, stallBytes, stallMs } from '../api/answer-limits.ts';
import { AnswerBody, type HeldBody } from './answer-body.ts';

/** Parts in which a slow answer's time is counted. */
const stallParts = 8;

/** One request as it goes over the wire. */
export interface WireRequest {
  readonly dispatcher: Dispatcher;
  readonly origin: string;
  /** With the query. */
  readonly path: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: string | undefined;
  /** The account whose server it goes to. */
  readonly account: string;
  /** Most bytes of a successful answer, decompressed. Of other answers `errorBytesMax` are read. */
  readonly answerBytesMax: number;
  /** Time limit of the whole exchange: waiting for a connection, request, answer and its body. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  /** What to do if no answer begins for some time. Default: keep waiting. */
  readonly silence?: SilenceProbe | undefined;
}

/** Distinguishes a slow server from one that answers nothing at all. */
export interface SilenceProbe {
  /** How long to wait for an answer before probing. */
  readonly probeAfterMs: number;
  /** Whether the server answers at all. */
  isAlive(): Promise<boolean>;
}

/** An answer as received, decompressed. */
export interface WireAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** For an unsuccessful answer: true if the rest of the body was not read. */
  readonly isCut: boolean;
  /** See `HeldBody.release`. */
  release(): void;
}

/** No complete answer came in time. */
export class ExchangeTimeoutError extends Error {
  override name = 'ExchangeTimeoutError';
}

/** The server did not answer, not even the liveness probe. */
export class ServerSilentError extends Error {
  override name = 'ServerSilentError';
}

/** The server is not called, since it could not be reached a moment ago. */
export class ServerDownError extends Error {
  override name = 'ServerDownError';
}

/** A failed exchange, unless its signal aborted it. */
export class ExchangeError extends Error {
  override name = 'ExchangeError';
  /** False if nothing was sent: the server cannot have acted. */
  readonly sent: boolean;

  constructor(cause: Error, sent: boolean) {
    super(cause.message, { cause });
    this.sent = sent;
  }
}

/**
 * Sends one request and reads the whole answer, within limits. The connection of a server that sends more is cut.
 *
 * @throws ExchangeError, whose cause is an AnswerLimitError for an answer beyond the limits, or the signal's reason.
 */
export function exchange(request: WireRequest): Promise<WireAnswer> {
  return new Exchange(request).start();
}

/** One request's handler. Using the pool's own interface needs no streams, and shows whether a request had been sent when it failed. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #request: WireRequest;
  readonly #result = Promise.withResolvers<WireAnswer>();
  #body: AnswerBody | undefined;
  #timer: NodeJS.Timeout | undefined;
  #stallTimer: NodeJS.Timeout | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #ended = false;
  #hasAllCome = false;
  /** Bytes of the body received when the counted time began, and how many parts of that time have passed. */
  #pace = { bytes: 0, parts: 0 };
  #status = 0;
  #headers: IncomingHttpHeaders = {};

  constructor(request: WireRequest) {
    this.#request = request;
  }

  start(): Promise<WireAnswer> {
    const { dispatcher, origin, path, method, headers, body, timeoutMs, signal, silence } = this.#request;
    const isWatched = silence !== undefined && silence.probeAfterMs < timeoutMs;
    this.#timer = isWatched
      ? setTimeout(this.#onSilence, silence.probeAfterMs, silence)
      : setTimeout(this.#onTimeout, timeoutMs);
    signal?.addEventListener('abort', this.#onAbort);
    if (signal?.aborted) this.#onAbort();
    else dispatcher.dispatch({ origin, path, method, headers, body: body ?? null }, this);
    return this.#result.promise;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#ended) controller.abort(new Error('given up before it was sent'));
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    const { account, answerBytesMax } = this.#request;
    const isRefusal = status >= 300;
    this.#status = status;
    this.#headers = headers;
    this.#body?.close();
    this.#body = new AnswerBody({
      account,
      bytesMax: isRefusal ? errorBytesMax : answerBytesMax,
      beyond: isRefusal ? 'cut' : 'fail',
      isCompressed: headers['content-encoding'] === 'gzip',
      flow: controller,
      onEnd: (body) => this.#complete(body),
      onFail: (error) => this.#giveUp(new ExchangeError(error, true)),
    });
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#body?.take(chunk);
  }

  onResponseEnd(): void {
    this.#hasAllCome = true;
    this.#body?.end();
  }

  #complete({ bytes, isCut, release }: HeldBody): void {
    if (!this.#end()) {
      release();
      return;
    }
    // Does not wait for data beyond the limit, or after the end of the compressed body.
    if (isCut || !this.#hasAllCome) this.#controller?.abort(new Error('no more of it is wanted'));
    const answer = { status: this.#status, headers: this.#headers, body: bytes, isCut, release };
    // The pool takes the connection back a turn of the event loop later. Answering after it has lets the next request
    // use this connection, where it would open another one now.
    process.nextTick(() => setImmediate(this.#result.resolve, answer));
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (!this.#end()) return;
    this.#body?.close();
    this.#result.reject(new ExchangeError(error, this.#controller !== undefined));
  }

  readonly #onAbort = (): void => {
    this.#giveUp(this.#request.signal?.reason);
  };

  readonly #onSilence = ({ probeAfterMs, isAlive }: SilenceProbe): void => {
    this.#timer = setTimeout(this.#onTimeout, this.#request.timeoutMs - probeAfterMs);
    this.#stallTimer = setInterval(this.#onStallCheck, stallMs / stallParts);
    if (this.#status === 0) void this.#giveUpUnless(isAlive());
  };

  /** Counts from the first part of a body on, in parts of time: while this process is suspended, no time passes for the server. */
  readonly #onStallCheck = (): void => {
    const body = this.#body;
    if (body === undefined || body.isHeld) {
      this.#pace = { bytes: body?.wireBytes ?? 0, parts: 0 };
      return;
    }
    this.#pace.parts += 1;
    if (this.#pace.parts < stallParts) return;
    const isStalled = body.wireBytes - this.#pace.bytes < stallBytes;
    this.#pace = { bytes: body.wireBytes, parts: 0 };
    if (!isStalled) return;
    const message = `comes too slowly: less than ${stallBytes} bytes in ${stallMs / 1000} s`;
    this.#giveUp(new ExchangeError(new AnswerLimitError(message, false), true));
  };

  async #giveUpUnless(alive: Promise<boolean>): Promise<void> {
    if (await alive) return;
    const error = new ServerSilentError('it answers nothing, not even whether it is alive');
    this.#giveUp(new ExchangeError(error, this.#controller !== undefined));
  }

  readonly #onTimeout = (): void => {
    const error = new ExchangeTimeoutError(`no answer within ${this.#request.timeoutMs / 1000} s`);
    this.#giveUp(new ExchangeError(error, this.#controller !== undefined));
  };

  #giveUp(reason: unknown): void {
    if (!this.#end()) return;
    this.#body?.close();
    this.#controller?.abort(reason instanceof Error ? reason : new Error('aborted'));
    this.#result.reject(reason);
  }

  /** True for the first call: an exchange ends only once. */
  #end(): boolean {
    if (this.#ended) return false;
    this.#ended = true;
    clearTimeout(this.#timer);
    clearInterval(this.#stallTimer);
    this.#request.signal?.removeEventListener('abort', this.#onAbort);
    return true;
  }
}
