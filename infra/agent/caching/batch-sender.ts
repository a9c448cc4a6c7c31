import { gzipSync } from 'node:zlib';
import {
  batchBytesMax,
  batchChangesMax,
  type ChangesMessage,
  changesOutcomeSchema,
  factsLengthMax,
  pruneApplicationsMax,
  prunesSchema,
} from '#agents/protocol/cache-messages.ts';
import { describeName, getObjectName } from '#caching/store/object-names.ts';
import type { ChangeSender, WireChange, WireChanges, WireOutcome } from '#caching/store/wire-changes.ts';
import { type BackOff, getPauseMs } from '#core/back-off.ts';
import type { Clock, Randomness } from '#core/clock.ts';
import { HubAwayError } from '../hub/hub-client.ts';
import type { AgentMetrics } from '../status/agent-metrics.ts';
import { type CacheCalls, isTooLarge } from './cache-calls.ts';
import { SendWindow } from './send-window.ts';

/** Pauses while Busdriver is away; one that says when to come again is waited for at least as long. */
const backOff: BackOff = { firstMs: 500, mostMs: 10_000, fixedShare: 0.5 };

/** Tries of a write that no lease ends: an operation waits for it for two seconds. */
const looseTriesMax = 3;

/** Dependencies of the sender. */
export interface BatchSenderOptions {
  readonly calls: Pick<CacheCalls, 'call' | 'callOnce'>;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly randomness: Pick<Randomness, 'fraction'>;
  readonly metrics: Pick<AgentMetrics, 'beginChanges' | 'countBatch'>;
}

/** Sends changes to Busdriver in batches, a few of an account at a time; each object is in one of them. */
export class BatchSender implements ChangeSender {
  readonly #options: BatchSenderOptions;
  readonly #windows = new Map<string, SendWindow>();

  constructor(options: BatchSenderOptions) {
    this.#options = options;
  }

  async write(
    account: string,
    { epoch, changes }: WireChanges,
    ensureHeld?: () => void,
  ): Promise<WireOutcome> {
    // Packed they may be small: Busdriver would refuse the whole batch.
    const { large = [], fitting = [] } = Object.groupBy(changes, ({ facts = '' }) =>
      facts.length > factsLengthMax ? 'large' : 'fitting',
    );
    const left = { ...nothing, dropped: large.map(describe) };
    const batches = divide(fitting, batchChangesMax).map((part) => ({ epoch, changes: part }));
    const end = this.#options.metrics.beginChanges(account, changes.length);
    try {
      const outcomes = await Promise.all(batches.map((batch) => this.#send(account, batch, ensureHeld)));
      return mergeOutcomes([left, ...outcomes]);
    } finally {
      end();
    }
  }

  async prune(account: string, applications: readonly string[]): Promise<readonly string[]> {
    const left: string[] = [];
    for (const part of divide(applications, pruneApplicationsMax)) {
      const body = { applications: part };
      const answer = await this.#options.calls.call(account, { method: 'POST', what: 'prunes', body });
      left.push(...prunesSchema.parse(answer).applications);
    }
    return left;
  }

  /** A batch that is too large goes in halves; one change that is too large by itself is dropped, and named. */
  async #send(account: string, batch: WireChanges, ensureHeld?: () => void): Promise<WireOutcome> {
    const { epoch, changes } = batch;
    const body = { epoch, changes: changes.map(toMessage) };
    const packed = gzipSync(JSON.stringify(body));
    try {
      if (packed.byteLength <= batchBytesMax) return await this.#post(account, { body, packed }, ensureHeld);
    } catch (error) {
      if (!isTooLarge(error)) throw error;
    }
    const [first] = changes;
    if (changes.length <= 1) return { ...nothing, dropped: first === undefined ? [] : [describe(first)] };
    const halves = divide(changes, Math.ceil(changes.length / 2));
    const sent = halves.map((half) => this.#send(account, { epoch, changes: half }, ensureHeld));
    return mergeOutcomes(await Promise.all(sent));
  }

  async #post(account: string, batch: PackedBatch, ensureHeld?: () => void): Promise<WireOutcome> {
    const { calls, clock, randomness, metrics } = this.#options;
    const window = this.#getWindow(account);
    const call = { method: 'POST', what: 'changes', ...batch } as const;
    for (let tries = 1; ; tries += 1) {
      let pause = Promise.resolve();
      const send = async (): Promise<WireOutcome> => {
        ensureHeld?.();
        const beganMs = performance.now();
        try {
          const outcome = changesOutcomeSchema.parse(await calls.callOnce(account, call));
          const ms = performance.now() - beganMs;
          metrics.countBatch({ changes: batch.body.changes.length, bytes: batch.packed.byteLength, ms });
          return outcome;
        } catch (error) {
          if (error instanceof HubAwayError) {
            pause = clock.sleep(Math.max(error.retryAfterMs, getPauseMs(backOff, tries, randomness)));
            if (error.isBusy) window.shrink(pause);
          }
          throw error;
        }
      };
      try {
        return await window.run(send);
      } catch (error) {
        if (!(error instanceof HubAwayError) || (ensureHeld === undefined && tries >= looseTriesMax))
          throw error;
        await pause;
      }
    }
  }

  #getWindow(account: string): SendWindow {
    const window = this.#windows.get(account) ?? new SendWindow();
    this.#windows.set(account, window);
    return window;
  }
}

/** A batch, and the same gzipped. */
interface PackedBatch {
  readonly body: ChangesMessage;
  readonly packed: Uint8Array;
}

const nothing: WireOutcome = { changes: 0, waiting: [], dropped: [] };

function mergeOutcomes(outcomes: readonly WireOutcome[]): WireOutcome {
  return {
    changes: outcomes.reduce((sum, { changes }) => sum + changes, 0),
    waiting: [...new Set(outcomes.flatMap(({ waiting }) => waiting))],
    dropped: [...new Set(outcomes.flatMap(({ dropped }) => dropped))],
    proof: outcomes.find(({ proof }) => proof !== undefined)?.proof,
  };
}

/** As Busdriver names what is too large. */
function describe(change: WireChange): string {
  return describeName(getObjectName(change));
}

function toMessage({ location: namespace, ...change }: WireChange): ChangesMessage['changes'][number] {
  return { ...change, namespace };
}

function divide<T>(items: readonly T[], most: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / most) }, (_, part) =>
    items.slice(part * most, (part + 1) * most),
  );
}
