import { describe, expect, test } from 'vitest';
import { batchesMax } from '#agents/protocol/cache-messages.ts';
import { SendWindow } from '#infra/agent/caching/send-window.ts';

/** Batches that are sent, each of which ends when it is told to. */
class Batches {
  readonly window = new SendWindow();
  readonly #ends: ((isRefused: boolean) => void)[] = [];
  readonly #sent: Promise<unknown>[] = [];
  readonly pause = Promise.withResolvers<void>();

  send(count: number): void {
    for (let batch = 0; batch < count; batch += 1) {
      const run = this.window.run(async () => {
        const isRefused = await new Promise<boolean>((resolve) => this.#ends.push(resolve));
        if (isRefused) this.window.shrink(this.pause.promise);
      });
      this.#sent.push(run);
    }
  }

  /** Ends the oldest one that is under way, and lets others go. */
  async end({ isRefused = false } = {}): Promise<void> {
    this.#ends.shift()?.(isRefused);
    await settle();
  }

  get underWay(): number {
    return this.#ends.length;
  }
}

/** Lets everything go on that waits for nothing but other promises. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

describe('batches of an account', () => {
  test('are under way at a time as far as they may', async () => {
    const batches = new Batches();
    batches.send(batchesMax + 2);
    await settle();
    expect(batches.underWay).toBe(batchesMax);
    await batches.end();
    expect(batches.underWay).toBe(batchesMax);
  });

  test('are half as many after a refusal, and none is sent before that was waited for', async () => {
    const batches = new Batches();
    batches.send(20);
    await settle();
    await batches.end({ isRefused: true });
    for (let left = batchesMax - 1; left > 0; left -= 1) {
      expect(batches.underWay).toBe(left);
      await batches.end();
    }
    expect(batches.underWay).toBe(0);
    batches.pause.resolve();
    await settle();
    expect(batches.underWay).toBe(batchesMax / 2);
  });

  test('become more again as they go through', async () => {
    const batches = new Batches();
    batches.send(60);
    batches.pause.resolve();
    await settle();
    await batches.end({ isRefused: true });
    for (let passed = 0; passed < 40; passed += 1) await batches.end();
    expect(batches.underWay).toBe(batchesMax);
  });
});
