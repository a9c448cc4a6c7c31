import { expect } from 'vitest';
import type { Clock, Randomness } from '#core/clock.ts';
import type { JsonObject } from '#core/json.ts';
import type { Logger } from '#core/logger.ts';
import type { Artifact } from '#provider-kit/artifact.ts';
import type { ProviderContext } from '#provider-kit/provider.ts';
import type { OpenedSources } from '#providers/artifacts/download/source.ts';

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
  more: Partial<ProviderContext> = {},
): ProviderContext {
  return {
    settings,
    clock: createTestClock(),
    randomness: middling,
    log: createTestLog(),
    placement: 'local',
    ...more,
  };
}

/** Options on accounts of one kind, which may reach this machine. */
export function createLocalOptions(kind: string, settings: JsonObject, more: Partial<ProviderContext> = {}) {
  const artifacts = {
    urlRestrictions: { allowedIps: ['127.0.0.1'] },
    [kind]: { enabled: true, ...settings },
  };
  return createTestOptions({ artifacts }, more);
}

/** The text of what the first of some accounts fetches, which is closed then. */
export async function fetchText({ sources }: OpenedSources, artifact: Artifact): Promise<string> {
  await using source = sources[0];
  return readText((await source?.fetch(artifact, neverAborted()))?.body);
}

/** Expects that the only account was left out for this reason, which repeats no secret. */
export function expectRejected({ sources, rejectedAccounts }: OpenedSources, reason: string): void {
  expect(sources).toEqual([]);
  expect(rejectedAccounts[0]?.reason).toContain(reason);
  expect(JSON.stringify(rejectedAccounts)).not.toContain('planted');
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
