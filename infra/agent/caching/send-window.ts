import { batchesMax } from '../../../shared/agent-protocol/cache-messages.ts';

/** Batches in a row that go through before one more may be under way. */
const growAfter = 8;

/** How many batches of an account may be under way: half as many after each refusal for asking too much, and more as they go through. */
export class SendWindow {
  readonly #waiting: (() => void)[] = [];
  #size: number = batchesMax;
  #active = 0;
  #passed = 0;

  /** Batches that may be under way now. */
  get size(): number {
    return this.#size;
  }

  /** Sends when there is room. @throws what `send` throws */
  async run<T>(send: () => Promise<T>): Promise<T> {
    while (this.#active >= this.#size) await new Promise<void>((resolve) => this.#waiting.push(resolve));
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

  /** Busdriver was asked for too much. */
  shrink(): void {
    this.#passed = 0;
    this.#size = Math.max(1, Math.floor(this.#size / 2));
  }

  #grow(): void {
    this.#passed += 1;
    if (this.#passed < growAfter || this.#size >= batchesMax) return;
    this.#passed = 0;
    this.#size += 1;
    this.#waiting.shift()?.();
  }
}
