import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';

/** One request as it goes over the wire. */
export interface WireRequest {
  readonly dispatcher: Dispatcher;
  readonly origin: string;
  /** With the query. */
  readonly path: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: string | undefined;
  /** Bound of the whole exchange: waiting for a connection, request, answer and its body. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  /** What to do when no answer has begun for some time. Default: to wait on. */
  readonly silence?: SilenceCheck | undefined;
}

/** Tells a server that takes its time from one that answers nothing at all. */
export interface SilenceCheck {
  /** How long to wait for an answer before asking. */
  readonly patienceMs: number;
  /** Whether the server answers anything. */
  isAlive(): Promise<boolean>;
}

/** An answer as it came over the wire. */
export interface WireAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** No complete answer came in time. */
export class ExchangeTimeoutError extends Error {
  override name = 'ExchangeTimeoutError';
}

/** The server answered nothing, not even whether it is alive. */
export class ServerSilentError extends Error {
  override name = 'ServerSilentError';
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
 * Sends one request and reads the answer whole.
 *
 * @throws ExchangeError, or the signal's reason.
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
  readonly #chunks: Buffer[] = [];
  #timer: NodeJS.Timeout | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #ended = false;
  #status = 0;
  #headers: IncomingHttpHeaders = {};

  constructor(request: WireRequest) {
    this.#request = request;
  }

  start(): Promise<WireAnswer> {
    const { dispatcher, origin, path, method, headers, body, timeoutMs, signal, silence } = this.#request;
    const isWatched = silence !== undefined && silence.patienceMs < timeoutMs;
    this.#timer = isWatched
      ? setTimeout(this.#onSilence, silence.patienceMs, silence)
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
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    if (!this.#end()) return;
    const [first, second] = this.#chunks;
    const body = second === undefined ? (first ?? Buffer.alloc(0)) : Buffer.concat(this.#chunks);
    const answer = { status: this.#status, headers: this.#headers, body };
    // The pool takes the connection back a turn of the event loop later. Answering after it has lets the next request
    // use this connection, where it would open another one now.
    process.nextTick(() => setImmediate(this.#result.resolve, answer));
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#end()) this.#result.reject(new ExchangeError(error, this.#controller !== undefined));
  }

  readonly #onAbort = (): void => {
    this.#giveUp(this.#request.signal?.reason);
  };

  readonly #onSilence = ({ patienceMs, isAlive }: SilenceCheck): void => {
    this.#timer = setTimeout(this.#onTimeout, this.#request.timeoutMs - patienceMs);
    if (this.#status === 0) void this.#giveUpUnless(isAlive());
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
    this.#controller?.abort(reason instanceof Error ? reason : new Error('aborted'));
    this.#result.reject(reason);
  }

  /** True for the first of the ways in which an exchange ends. */
  #end(): boolean {
    if (this.#ended) return false;
    this.#ended = true;
    clearTimeout(this.#timer);
    this.#request.signal?.removeEventListener('abort', this.#onAbort);
    return true;
  }
}
