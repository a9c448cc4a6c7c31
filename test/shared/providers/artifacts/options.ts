import type { Clock, Randomness } from '../../../../shared/core/clock.ts';
import type { JsonObject } from '../../../../shared/core/json.ts';
import type { Logger } from '../../../../shared/core/logger.ts';
import type { ProviderOptions } from '../../../../shared/core/providers/provider.ts';

/** A clock at a fixed time, whose sleeps end at once and move it. */
export interface TestClock extends Clock {
  advance(ms: number): void;
  /** Every sleep so far, in milliseconds. */
  readonly sleeps: readonly number[];
}

/** Starts at 2026-01-01. */
export function createTestClock(): TestClock {
  let nowMs = Date.UTC(2026, 0, 1);
  const sleeps: number[] = [];
  return {
    now: () => nowMs,
    monotonic: () => nowMs,
    async sleep(ms, signal) {
      signal?.throwIfAborted();
      sleeps.push(ms);
      nowMs += ms;
    },
    advance(ms) {
      nowMs += ms;
    },
    sleeps,
  };
}

export const middling: Randomness = { fraction: () => 0.5, id: () => '0'.repeat(26) };

/** A log that keeps its lines as text. */
export function createTestLog(): Logger & { readonly lines: readonly string[] } {
  const lines: string[] = [];
  const write = (message: string, fields?: unknown) =>
    lines.push(`${message} ${JSON.stringify(fields ?? {})}`);
  return { lines, debug: write, info: write, warn: write, error: write };
}

/** Options that open the provider on a configuration. */
export function createTestOptions(
  settings: JsonObject,
  more: Partial<ProviderOptions> = {},
): ProviderOptions {
  return {
    settings,
    clock: createTestClock(),
    randomness: middling,
    log: createTestLog(),
    placement: 'local',
    ...more,
  };
}

/** All of a body. */
export async function readBytes(body: AsyncIterable<Uint8Array> | undefined): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body ?? []) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** All of a body as text. */
export async function readText(body: AsyncIterable<Uint8Array> | undefined): Promise<string> {
  return Buffer.from(await readBytes(body)).toString('utf8');
}

/** A signal that nobody aborts. */
export function neverAborted(): AbortSignal {
  return new AbortController().signal;
}
