import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { AnswerLimitError, errorBytesMax, stallBytes, stallMs } from '../api/answer-limits.ts';
import { AnswerBody, type HeldBody } from './answer-body.ts';

/** Parts in which the time of a slow answer is counted. */
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
  /** Whose server it goes to. */
  readonly account: string;
  /** Most bytes of a successful answer, decompressed. Of others `errorBytesMax` are read. */
  readonly answerBytesMax: number;
  /** Bound of the whole exchange: waiting for a connection, request, answer and its body. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  /** What to do when no answer has begun for some time. Default: to wait on. */
  readonly silence?: SilenceProbe | undefined;
}

/** Tells a server that takes its time from one that answers nothing at all. */
export interface SilenceProbe {
  /** How long to wait for an answer before asking. */
  readonly probeAfterMs: number;
  /** Whether the server answers anything. */
  isAlive(): Promise<boolean>;
}

/** An answer as it came over the wire, decompressed. */
export interface WireAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** Of no success: true when the rest of the body was not read. */
  readonly isCut: boolean;
  /** See `HeldBody.release`. */
  release(): void;
}

/** No complete answer came in time. */
export class ExchangeTimeoutError extends Error {
  override name = 'ExchangeTimeoutError';
}

/** The server answered nothing, not even whether it is alive. */
export class ServerSilentError extends Error {
  override name = 'ServerSilentError';
}

/** The server is not asked, since it could not be reached a moment ago. */
export class ServerDownError extends Error {
  override name = 'ServerDownError';
}

/** An exchange that failed, other than by its signal. */
export class ExchangeError extends Error {
  override name = 'ExchangeError';
  /** False when nothing was sent: the server cannot have acted. */
  readonly sent: boolean;

  constructor(cause: Error, sent: boolean) {
    super(cause.message, { cause });
    this.sent = sent;
  }
}

/**
 * Sends one request and reads the answer whole, in bounds. A server that answers more loses its connection.
 *
 * @throws ExchangeError, whose cause is an AnswerLimitError for an answer that goes beyond its bounds, or the signal's reason.
 */
export function exchange(request: WireRequest): Promise<WireAnswer> {
  return new Exchange(request).start();
}

/**
 * One request's handler. Talking to the pool in its own terms costs no streams, and tells whether a request had been
 * sent when it failed.
 */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #request: WireRequest;
  readonly #result = Promise.withResolvers<WireAnswer>();
  #body: AnswerBody | undefined;
  #timer: NodeJS.Timeout | undefined;
  #stallTimer: NodeJS.Timeout | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #ended = false;
  #hasAllCome = false;
  /** What had come of the body when the time began that is counted, and so many parts of it. */
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
    // What else the server has to say, after what it may or after the end of what it compressed, is not waited for.
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

  /** Counts from the moment that a body comes, and in parts: while this process stands still, no time passes for the server. */
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

  /** True for the first of the ways in which an exchange ends. */
  #end(): boolean {
    if (this.#ended) return false;
    this.#ended = true;
    clearTimeout(this.#timer);
    clearInterval(this.#stallTimer);
    this.#request.signal?.removeEventListener('abort', this.#onAbort);
    return true;
  }
}
