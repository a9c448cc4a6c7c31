import type { Dispatcher } from 'undici';

/** Small pieces are joined to pieces of this many bytes; larger ones pass unchanged. */
const pieceBytes = 16 * 1024;

/**
 * Joins the small pieces of an answer that arrive together, in one read of the socket.
 *
 * A host may send each byte as a chunk of its own. Each would wait in the queues of streams as an object a hundred times its size, too long
 * for the garbage collector's young generation: four such answers grew the process by 400 MiB.
 */
export function joinPieces(dispatch: Dispatcher.Dispatch): Dispatcher.Dispatch {
  return (options, handler) => dispatch(options, new PieceJoiner(handler));
}

type Arguments<K extends keyof Dispatcher.DispatchHandler> = Parameters<
  NonNullable<Dispatcher.DispatchHandler[K]>
>;

class PieceJoiner implements Dispatcher.DispatchHandler {
  readonly #handler: Dispatcher.DispatchHandler;
  /** Bytes not yet passed on: copied at once, so that the pieces themselves are short-lived. */
  #joined = Buffer.alloc(0);
  #length = 0;

  constructor(handler: Dispatcher.DispatchHandler) {
    this.#handler = handler;
  }

  onRequestStart(...args: Arguments<'onRequestStart'>): void {
    this.#handler.onRequestStart?.(...args);
  }

  onResponseStart(...args: Arguments<'onResponseStart'>): void {
    this.#handler.onResponseStart?.(...args);
  }

  onResponseData(controller: Dispatcher.DispatchController, piece: Buffer): void {
    if (this.#length + piece.length > pieceBytes) this.#pass(controller);
    if (piece.length > pieceBytes / 2) {
      this.#pass(controller);
      this.#handler.onResponseData?.(controller, piece);
      return;
    }
    if (this.#length === 0) this.#begin(controller);
    this.#joined.set(piece, this.#length);
    this.#length += piece.length;
  }

  onResponseEnd(...[controller, trailers]: Arguments<'onResponseEnd'>): void {
    this.#pass(controller);
    this.#handler.onResponseEnd?.(controller, trailers);
  }

  onResponseError(...[controller, error]: Arguments<'onResponseError'>): void {
    this.#length = 0;
    this.#handler.onResponseError?.(controller, error);
  }

  #begin(controller: Dispatcher.DispatchController): void {
    this.#joined = Buffer.allocUnsafeSlow(pieceBytes);
    // Runs once the parser has processed its input.
    queueMicrotask(() => this.#pass(controller));
  }

  #pass(controller: Dispatcher.DispatchController): void {
    if (this.#length === 0) return;
    const joined = this.#joined.subarray(0, this.#length);
    this.#length = 0;
    this.#handler.onResponseData?.(controller, joined);
  }
}
