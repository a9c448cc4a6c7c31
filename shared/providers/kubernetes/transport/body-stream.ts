import type { IncomingHttpHeaders } from 'node:http';
import { gunzipSync } from 'node:zlib';
import type { Dispatcher } from 'undici';
import { GatheredBytes } from '#core/gathered-bytes.ts';
import { errorBytesMax } from '../api/answer-limits.ts';
import {
  ExchangeError,
  ExchangeTimeoutError,
  ServerSilentError,
  type SilenceProbe,
  type WireAnswer,
} from './exchange.ts';
import type { WireTarget } from './http.ts';

/** A request whose answer is read as it arrives. */
export interface StreamRequest extends WireTarget {
  /** What to do if no answer begins for some time. */
  readonly silence: SilenceProbe;
  /** Time limit until the answer begins. */
  readonly answerTimeoutMs: number;
  /** Time limit between two parts of the answer, or until its end. */
  readonly silenceMs: number;
  /** Time limit from the beginning of the answer to its end, without the time in `onChunk`. */
  readonly durationMs: number;
  readonly signal: AbortSignal | undefined;
  /** Called when a successful answer begins, before any part of its body. Must not throw. */
  readonly onBegin?: (() => void) | undefined;
  /**
   * Receives a part of a successful answer's body, and returns whether to continue. While it works, no other part is read from the
   * connection: the server waits. An error that it throws ends the stream.
   */
  onChunk(chunk: Buffer): boolean | Promise<boolean>;
}

/** How a stream ended. */
export type StreamEnd =
  /** The server refused: its answer, of which `errorBytesMax` are read. */
  | { readonly type: 'refused'; readonly answer: Omit<WireAnswer, 'release'> }
  /** The answer is complete; `cut` if `onChunk` wanted no more of it. */
  | { readonly type: 'complete' | 'cut' | 'aborted' }
  /** The connection broke in the middle of the answer, or became silent. */
  | { readonly type: 'broken'; readonly error: Error };

/**
 * Sends a request and passes on its answer's body as it arrives.
 *
 * @throws ExchangeError if no answer began, the signal's reason if it is aborted before that, and what `onChunk` throws.
 */
export function streamBody(request: StreamRequest): Promise<StreamEnd> {
  return new BodyStream(request).start();
}

/** The body of a refusal, compressed although that was not requested. It is small, and its decompressed size is limited, too. */
function inflateStart(bytes: Buffer): Pick<WireAnswer, 'body' | 'isCut'> {
  try {
    return { body: gunzipSync(bytes, { maxOutputLength: errorBytesMax }), isCut: false };
  } catch {
    return { body: Buffer.alloc(0), isCut: true };
  }
}

class BodyStream implements Dispatcher.DispatchHandler {
  readonly #request: StreamRequest;
  readonly #result = Promise.withResolvers<StreamEnd>();
  readonly #refusal = new GatheredBytes();
  /** Parts received although the connection is paused: when it ends, it delivers what it has. */
  readonly #backlog: Buffer[] = [];
  #timer: NodeJS.Timeout | undefined;
  /** The server's remaining time for its answer. */
  #leftMs = 0;
  #waitsSinceMs: number | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #ended = false;
  /** Whether a part of the body is being processed. */
  #busy = false;
  /** How the stream ended while a part was still being processed. */
  #endWhenIdle: (() => void) | undefined;
  #status = 0;
  #headers: IncomingHttpHeaders = {};

  constructor(request: StreamRequest) {
    this.#request = request;
  }

  start(): Promise<StreamEnd> {
    const { dispatcher, origin, path, method, headers, signal, silence } = this.#request;
    this.#timer = setTimeout(this.#onSilence, silence.probeAfterMs, silence);
    signal?.addEventListener('abort', this.#onAbort);
    if (signal?.aborted) this.#onAbort();
    else dispatcher.dispatch({ origin, path, method, headers, body: null }, this);
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
    this.#leftMs = this.#request.durationMs;
    this.#awaitMore();
    if (status < 300) this.#request.onBegin?.();
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#ended) return;
    if (this.#status >= 300) this.#takeRefusal(chunk);
    else if (this.#busy) this.#backlog.push(chunk);
    else this.#take(chunk, controller);
  }

  onResponseEnd(): void {
    this.#endWith(() => this.#complete());
  }

  #takeRefusal(chunk: Buffer): void {
    const leftBytes = errorBytesMax - this.#refusal.length;
    this.#refusal.add(chunk.subarray(0, leftBytes));
    if (chunk.length <= leftBytes) return;
    this.#complete({ isCut: true });
    this.#controller?.abort(new Error('no more of it is wanted'));
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#endWith(() => this.#break(error));
  }

  #take(chunk: Buffer, controller: Dispatcher.DispatchController): void {
    this.#awaitMore();
    try {
      const goesOn = this.#request.onChunk(chunk);
      if (typeof goesOn !== 'boolean') void this.#waitFor(goesOn, controller);
      else if (!goesOn) this.#cut('cut');
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Makes the server wait until a part has been processed. */
  async #waitFor(work: Promise<boolean>, controller: Dispatcher.DispatchController): Promise<void> {
    this.#busy = true;
    controller.pause();
    this.#stopWaiting();
    try {
      let goesOn = await work;
      for (let chunk = this.#backlog.shift(); goesOn && chunk !== undefined; chunk = this.#backlog.shift()) {
        goesOn = await this.#request.onChunk(chunk);
      }
      if (!goesOn) this.#cut('cut');
    } catch (error) {
      this.#fail(error);
    }
    this.#busy = false;
    this.#endWhenIdle?.();
    if (this.#ended) return;
    this.#awaitMore();
    controller.resume();
  }

  /** Ends after the part in progress: the end reports how much of the stream was processed. */
  #endWith(end: () => void): void {
    if (this.#busy) this.#endWhenIdle ??= end;
    else end();
  }

  #awaitMore(): void {
    this.#stopWaiting();
    this.#waitsSinceMs = performance.now();
    const ms = Math.max(Math.min(this.#request.silenceMs, this.#leftMs), 0);
    this.#timer = setTimeout(this.#onTimeout, ms, ms);
  }

  /** The server's time counts, ours does not. */
  #stopWaiting(): void {
    clearTimeout(this.#timer);
    if (this.#waitsSinceMs === undefined) return;
    this.#leftMs -= performance.now() - this.#waitsSinceMs;
    this.#waitsSinceMs = undefined;
  }

  #complete({ isCut = false } = {}): void {
    if (!this.#end()) return;
    const end: StreamEnd =
      this.#status >= 300 ? { type: 'refused', answer: this.#toRefusal(isCut) } : { type: 'complete' };
    // As for other exchanges: the pool takes the connection back a turn of the event loop later.
    process.nextTick(() => setImmediate(this.#result.resolve, end));
  }

  #toRefusal(isCut: boolean): Omit<WireAnswer, 'release'> {
    const bytes = Buffer.from(this.#refusal.take());
    const isCompressed = this.#headers['content-encoding'] === 'gzip';
    const inflated = isCompressed ? inflateStart(bytes) : { body: bytes, isCut };
    return { status: this.#status, headers: this.#headers, ...inflated };
  }

  #break(error: Error): void {
    if (!this.#end()) return;
    this.#controller?.abort(error);
    if (this.#status !== 0) this.#result.resolve({ type: 'broken', error });
    else this.#result.reject(new ExchangeError(error, this.#controller !== undefined));
  }

  readonly #onAbort = (): void => {
    if (this.#status === 0) this.#fail(this.#request.signal?.reason);
    else this.#endWith(() => this.#cut('aborted'));
  };

  readonly #onSilence = ({ probeAfterMs, isAlive }: SilenceProbe): void => {
    const leftMs = Math.max(this.#request.answerTimeoutMs - probeAfterMs, 0);
    this.#timer = setTimeout(this.#onTimeout, leftMs, this.#request.answerTimeoutMs);
    void this.#breakUnless(isAlive());
  };

  async #breakUnless(alive: Promise<boolean>): Promise<void> {
    if ((await alive) || this.#status !== 0) return;
    this.#break(new ServerSilentError('it answers nothing, not even whether it is alive'));
  }

  readonly #onTimeout = (ms: number): void => {
    const isEndless = this.#status !== 0 && ms < this.#request.silenceMs;
    const what = this.#status === 0 ? 'no answer' : 'nothing more';
    const message = isEndless
      ? `no end within ${this.#request.durationMs / 1000} s`
      : `${what} within ${ms / 1000} s`;
    this.#break(new ExchangeTimeoutError(message));
  };

  #cut(type: 'cut' | 'aborted'): void {
    if (!this.#end()) return;
    this.#controller?.abort(new Error('no more of it is wanted'));
    this.#result.resolve({ type });
  }

  #fail(reason: unknown): void {
    if (!this.#end()) return;
    this.#controller?.abort(reason instanceof Error ? reason : new Error('aborted'));
    this.#result.reject(reason);
  }

  /** True for the first call: a stream ends only once. */
  #end(): boolean {
    if (this.#ended) return false;
    this.#ended = true;
    clearTimeout(this.#timer);
    this.#request.signal?.removeEventListener('abort', this.#onAbort);
    return true;
  }
}
