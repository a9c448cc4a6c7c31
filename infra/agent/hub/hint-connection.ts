import type { WebSocket } from 'undici';
import { parseFrame, toPingFrame } from '#agents/protocol/hint-frames.ts';
import { waits } from '#core/deadline.ts';
import { getErrorMessage } from '#core/errors.ts';
import { type HintLineOptions, lostCode, OpeningLine } from './hint-line.ts';

/** Milliseconds between two pings: API Gateway ends what is idle for ten minutes. */
const pingMs = 4 * 60_000;

/** Milliseconds for the answer of one: after that the connection leads nowhere. */
const pongMs = 15_000;

/** Dependencies of a connection. */
export interface HintConnectionOptions extends Omit<HintLineOptions, 'welcome'> {
  readonly socket: WebSocket;
}

/** A WebSocket for hints. It is pinged, and given up when no answer comes. */
export class HintConnection extends OpeningLine {
  readonly #options: HintConnectionOptions;
  #pongs = 0;

  constructor(options: HintConnectionOptions) {
    super(options.clock);
    this.#options = options;
    const { socket } = options;
    socket.onopen = () => this.#open();
    // The code of the close event, which comes after this one, says what is wrong.
    socket.onerror = () => undefined;
    socket.onclose = ({ code }) => this.noteEnd(code);
    socket.onmessage = ({ data }) => this.#take(data);
  }

  close(): void {
    this.#options.socket.close();
    this.noteEnd(lostCode);
  }

  #open(): void {
    this.noteOpen();
    void this.#ping();
  }

  async #ping(): Promise<void> {
    const { clock, socket } = this.#options;
    for (let n = 1; await waits(clock, pingMs, this.over); n += 1) {
      socket.send(toPingFrame('ping', n));
      if (!(await waits(clock, pongMs, this.over))) return;
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
