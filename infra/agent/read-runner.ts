import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { getAnswerBytesMax, readPartBytesMax, readPartsMax } from '#agents/live-read.ts';
import { type ReadAnswer, type ReadRequest, readRequestSchema } from '#agents/protocol/messages.ts';
import { toReadFailure } from '#agents/protocol/read-failure.ts';
import { runRead } from '#agents/protocol/run-read.ts';
import { type BackOff, retry } from '#core/back-off.ts';
import type { Clock, Randomness } from '#core/clock.ts';
import { FailedOperationError, getErrorMessage, VisibleError } from '#core/errors.ts';
import type { Logger } from '#core/logger.ts';
import { runWithLogFields } from '#platform/services/logger.ts';
import type { GrantedAccounts } from './config/granted-accounts.ts';
import type { SessionKeeper } from './hub/agent-session.ts';
import { HubAwayError, HubRefusalError } from './hub/hub-client.ts';
import type { AgentMetrics } from './status/agent-metrics.ts';

/** Milliseconds after a read for which others are expected: who waits for an object to be stable reads it again and again. */
const busyMs = 30_000;

/** Pauses between tries to hand over a part of an answer, of which there are few: somebody waits. */
const backOff: BackOff = { firstMs: 100, mostMs: 1_000 };
const triesMax = 5;

const pack = promisify(gzip);

/** Dependencies of reads. */
export interface ReadRunnerOptions {
  readonly session: Pick<SessionKeeper, 'call' | 'welcome'>;
  readonly accounts: Pick<GrantedAccounts, 'use'>;
  readonly clock: Clock;
  readonly randomness: Pick<Randomness, 'fraction'>;
  readonly log: Logger;
  readonly metrics: Pick<AgentMetrics, 'beginRead'>;
  /** Gives reads up. */
  readonly stop: AbortSignal;
}

/** Makes the reads that Busdriver asks for, some at once. */
export class ReadRunner {
  readonly #options: ReadRunnerOptions;
  readonly #running = new Set<string>();
  #lastMs = Number.NEGATIVE_INFINITY;

  constructor(options: ReadRunnerOptions) {
    this.#options = options;
  }

  /** How many reads there are. */
  get count(): number {
    return this.#running.size;
  }

  /** Whether there are reads, or were a short time ago. */
  get isBusy(): boolean {
    return this.#running.size > 0 || this.#options.clock.monotonic() - this.#lastMs < busyMs;
  }

  /** Begins a read, unless it runs already or as many do as may: then its hint comes again. */
  begin(id: string, account: string): void {
    const { clock, session, metrics } = this.#options;
    this.#lastMs = clock.monotonic();
    const { reads = 0 } = session.welcome?.limits ?? {};
    if (this.#running.has(id) || this.#running.size >= reads) return;
    this.#running.add(id);
    const end = metrics.beginRead();
    void runWithLogFields({ readId: id, account }, () => this.#run(id)).finally(() => {
      this.#running.delete(id);
      end();
    });
  }

  /** Never rejects: a read that is not answered is taken by another agent, or given up by who waits. */
  async #run(id: string): Promise<void> {
    const { session, log } = this.#options;
    try {
      const path = `/agent/v1/reads/${encodeURIComponent(id)}/lease`;
      const taken = await session.call({ method: 'POST', path });
      // Another agent has it.
      if (taken.status !== 200) return;
      const request = readRequestSchema.parse(taken.body);
      for (const part of await this.#answer(request)) await this.#send(id, part);
    } catch (error) {
      // No caller waits any more.
      if (error instanceof HubRefusalError && error.status === 403) return;
      log.warn('a live read could not be answered', { reason: getErrorMessage(error) });
    }
  }

  async #answer(request: ReadRequest): Promise<readonly ReadAnswer[]> {
    const { accounts, stop, log } = this.#options;
    const { take, waitMs } = request;
    try {
      using use = accounts.use();
      const signal = AbortSignal.any([stop, AbortSignal.timeout(waitMs)]);
      const answer = await runRead(use.getReader, request, signal);
      return toParts(take, await packAnswer(answer, getAnswerBytesMax(request.method)));
    } catch (error) {
      if (!(error instanceof VisibleError)) log.error('a live read failed', { error });
      return [{ take, part: 0, last: true, data: '', failure: toReadFailure(error) }];
    }
  }

  async #send(id: string, body: ReadAnswer): Promise<void> {
    const { session, clock, randomness, stop } = this.#options;
    const path = `/agent/v1/reads/${encodeURIComponent(id)}/answer`;
    const isRetryable = (error: unknown): boolean => error instanceof HubAwayError;
    await retry({ backOff, triesMax, clock, randomness, signal: stop, isRetryable }, () =>
      session.call({ method: 'PUT', path, body }),
    );
  }
}

/** The JSON text of an answer, gzipped. @throws FailedOperationError for one that is too large */
async function packAnswer(value: unknown, bytesMax: number): Promise<Uint8Array> {
  const text = JSON.stringify(value);
  const packed = await pack(text);
  if (Buffer.byteLength(text) > bytesMax || packed.byteLength > readPartsMax * readPartBytesMax)
    throw new FailedOperationError(`The answer is larger than ${bytesMax} bytes`);
  return packed;
}

function toParts(take: number, packed: Uint8Array): readonly ReadAnswer[] {
  const count = Math.max(1, Math.ceil(packed.byteLength / readPartBytesMax));
  return Array.from({ length: count }, (_, part) => {
    const bytes = packed.subarray(part * readPartBytesMax, (part + 1) * readPartBytesMax);
    return { take, part, last: part === count - 1, data: Buffer.from(bytes).toString('base64') };
  });
}
