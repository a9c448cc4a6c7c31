import type { WebSocket } from 'undici';
import { parseFrame, toPingFrame } from '#agents/protocol/hint-frames.ts';
import { waits } from '#core/deadline.ts';
import { getErrorMessage } from '#core/errors.ts';
import { type HintEnd, type HintLine, type HintLineOptions, lostCode, openMs } from './hint-line.ts';

/** Milliseconds between two pings: API Gateway ends what is idle for ten minutes. */
const pingMs = 4 * 60_000;

/** Milliseconds for the answer of one: after that the connection leads nowhere. */
const pongMs = 15_000;

/** Dependencies of a connection. */
export interface HintConnectionOptions extends Omit<HintLineOptions, 'welcome'> {
  readonly socket: WebSocket;
}

/** A WebSocket for hints. It is pinged, and given up when no answer comes. */
export class HintConnection implements HintLine {
  readonly #options: HintConnectionOptions;
  readonly #ended = Promise.withResolvers<HintEnd>();
  readonly #opened = Promise.withResolvers<boolean>();
  readonly #over = new AbortController();
  #openedAtMs: number | undefined;
  #pongs = 0;

  constructor(options: HintConnectionOptions) {
    this.#options = options;
    const { socket } = options;
    socket.onopen = () => this.#open();
    // The code of the close event, which comes after this one, says what is wrong.
    socket.onerror = () => undefined;
    socket.onclose = ({ code }) => this.#end(code);
    socket.onmessage = ({ data }) => this.#take(data);
  }

  get ended(): Promise<HintEnd> {
    return this.#ended.promise;
  }

  async waitUntilOpen(): Promise<boolean> {
    void waits(this.#options.clock, openMs, this.#over.signal).then((isLate) => {
      if (isLate && this.#openedAtMs === undefined) this.close();
    });
    return this.#opened.promise;
  }

  close(): void {
    this.#options.socket.close();
    this.#end(lostCode);
  }

  #open(): void {
    this.#openedAtMs = this.#options.clock.monotonic();
    this.#opened.resolve(true);
    void this.#ping();
  }

  #end(code: number): void {
    const { clock } = this.#options;
    const nowMs = clock.monotonic();
    this.#opened.resolve(false);
    this.#ended.resolve({ code, lastedMs: nowMs - (this.#openedAtMs ?? nowMs) });
    this.#over.abort('it has ended');
  }

  async #ping(): Promise<void> {
    const { clock, socket } = this.#options;
    for (let n = 1; await waits(clock, pingMs, this.#over.signal); n += 1) {
      socket.send(toPingFrame('ping', n));
      if (!(await waits(clock, pongMs, this.#over.signal))) return;
      if (this.#pongs < n) this.close();
    }
  }

  /** Ignores what is no frame: the work is found by asking. */
  #take(data: unknown): void {
    const { log, onHint } = this.#options;
    try {
      const frame = typeof data === 'string' ? parseFrame(data) : undefined;
      // Counted, whatever their number: API Gateway answers all pings alike.
      if (frame?.type === 'pong') this.#pongs += 1;
      else if (frame?.type === 'work') onHint(frame);
    } catch (error) {
      log.warn('a hint cannot be read', { reason: getErrorMessage(error) });
    }
  }
}
