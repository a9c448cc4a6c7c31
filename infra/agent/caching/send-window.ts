import { batchesMax } from '#agents/protocol/cache-messages.ts';

/** Batches in a row that go through before one more may be under way. */
const growAfter = 8;

/**
 * How many batches of an account may be under way: half as many after each refusal for asking too much, none while that is waited for,
 * and more as they go through.
 */
export class SendWindow {
  readonly #waiting: (() => void)[] = [];
  #size: number = batchesMax;
  #active = 0;
  #passed = 0;
  #pause: Promise<void> | undefined;

  /** Sends when there is room, and nothing is waited for. @throws what `send` throws */
  async run<T>(send: () => Promise<T>): Promise<T> {
    while (this.#pause !== undefined || this.#active >= this.#size) {
      await (this.#pause ?? new Promise<void>((resolve) => this.#waiting.push(resolve)));
    }
    this.#active += 1;
    try {
      const answer = await send();
      this.#grow();
      return answer;
    } finally {
      this.#active -= 1;
      this.#waiting.shift()?.();
    }
  }

  /**
   * Busdriver was asked for too much. To be called by what is sent, before that ends: what waits for its place would go at once.
   *
   * @param pause how long nothing is to be sent; it must not reject
   */
  shrink(pause: Promise<void>): void {
    this.#passed = 0;
    this.#size = Math.max(1, Math.floor(this.#size / 2));
    const own = pause.then(() => {
      if (this.#pause === own) this.#pause = undefined;
    });
    this.#pause = own;
  }

  #grow(): void {
    this.#passed += 1;
    if (this.#passed < growAfter || this.#size >= batchesMax) return;
    this.#passed = 0;
    this.#size += 1;
    this.#waiting.shift()?.();
  }
}
