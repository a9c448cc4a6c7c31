import { getPauseMs } from '../../../core/back-off.ts';
import type { Clock, Randomness } from '../../../core/clock.ts';
import { includesVersion, isOlder } from '../api/resource-version.ts';
import { findRefusal, getPositionAfter } from './kind-refusal.ts';
import type { KindScope, WatchChange, WatchEnd } from './watch.ts';
import type { WatchClient } from './watch-client.ts';

/** What has become known of a followed kind. */
export interface FollowProgress {
  /** In their order; none when only the position or the as-of advances. */
  readonly changes: readonly WatchChange[];
  /** Everything up to it has been told: where a successor can go on. */
  readonly position: string;
  /** Everything that was so at this time, wall time in milliseconds, has been told; undefined when nothing newer is known. */
  readonly asOfMs: number | undefined;
}

/** What to follow. */
export interface FollowRequest extends KindScope {
  /** The resource version up to which everything is known, of a list or of an earlier drain. */
  readonly position: string;
  readonly signal: AbortSignal;
  /**
   * A watch lasts this long and is followed by the next one; once in each, the as-of advances, also of a kind that does not
   * change. Default: 30; at least 5.
   */
  readonly roundSeconds?: number | undefined;
  /** Takes progress; more is taken from the server when it is done. */
  onProgress(progress: FollowProgress): void | Promise<void>;
  /** Told of each failure after which the watch is tried again: `failures` in a row, from 1. */
  onTrouble?(error: Error, failures: number): void;
}

/** Why following ended: see `DrainOutcome`. */
export interface FollowOutcome {
  readonly outcome: 'aborted' | 'expired' | 'future' | 'forbidden' | 'gone';
  /** Where to go on; undefined: only a list helps. */
  readonly position: string | undefined;
  readonly error?: Error | undefined;
}

/** What following needs. */
export interface FollowTools {
  readonly client: WatchClient;
  readonly clock: Clock;
  readonly randomness: Randomness;
}

const defaultRoundSeconds = 30;
/** How long before the end of a round the server is asked for its newest resource version: its bookmark comes 2 s before. */
const readAheadMs = 4_000;
const backOff = { firstMs: 500, mostMs: 30_000 };
/** A watch that lasted so long did not fail. */
const steadyMs = 1_000;

/**
 * Follows a kind from a position on until it is aborted or cannot go on: watch after watch, with pauses where they fail.
 *
 * @throws what `onProgress` throws
 */
export function followKind(request: FollowRequest, tools: FollowTools): Promise<FollowOutcome> {
  return new Following(request, tools).run();
}

/** The server's newest resource version, and when it was asked. */
interface Reading {
  readonly resourceVersion: string;
  readonly readAtMs: number;
}

/** How a round ended after which there is no next one, or after a pause only (`broken`). */
interface RoundEnd {
  readonly outcome: FollowOutcome['outcome'] | 'broken';
  readonly error: Error | undefined;
}

class Following {
  readonly #request: FollowRequest;
  readonly #tools: FollowTools;
  readonly #roundSeconds: number;
  #position: string;
  #failures = 0;
  /** The newest reading that the stream has not come to yet. */
  #reading: Reading | undefined;
  /** Whether a change was told since. */
  #hasChanged = false;

  constructor(request: FollowRequest, tools: FollowTools) {
    this.#request = request;
    this.#tools = tools;
    this.#roundSeconds = request.roundSeconds ?? defaultRoundSeconds;
    this.#position = request.position;
  }

  async run(): Promise<FollowOutcome> {
    const { signal } = this.#request;
    // Only where it begins, or begins again, the server may be behind: a stream that goes on has followed it.
    let isResumed = true;
    while (!signal.aborted) {
      const end = await this.#tryRound(isResumed);
      isResumed = end !== undefined;
      if (end === undefined || signal.aborted) continue;
      const { outcome, error } = end;
      if (outcome === 'broken') await this.#pause(error);
      else return { outcome, position: this.#getPositionAfter(outcome), error };
    }
    return { outcome: 'aborted', position: this.#position };
  }

  #getPositionAfter(outcome: FollowOutcome['outcome']): string | undefined {
    if (outcome === 'aborted') return this.#position;
    return outcome === 'future' ? undefined : getPositionAfter(outcome, this.#position);
  }

  async #tryRound(isResumed: boolean): Promise<RoundEnd | undefined> {
    try {
      if (isResumed && (await this.#readNow()) === 'future') return { outcome: 'future', error: undefined };
      return await this.#watchRound();
    } catch (error) {
      if (this.#request.signal.aborted) return undefined;
      const outcome = findRefusal(error);
      if (outcome === undefined || !(error instanceof Error)) throw error;
      return { outcome, error };
    }
  }

  async #readNow(): Promise<'future' | undefined> {
    const { onProgress, signal } = this.#request;
    if ((await this.#read(signal)) === 'future') return 'future';
    const reading = this.#takeReading(this.#position);
    if (reading === undefined) return undefined;
    await onProgress({ changes: [], position: this.#position, asOfMs: reading.readAtMs });
    return undefined;
  }

  async #watchRound(): Promise<RoundEnd | undefined> {
    const round = new AbortController();
    const signal = AbortSignal.any([this.#request.signal, round.signal]);
    const reading = this.#readLate(signal).then((found) => {
      if (found === 'future') round.abort();
      return found;
    });
    const end = await this.#tools.client
      .watch({
        ...this.#request,
        resourceVersion: this.#position,
        timeoutSeconds: this.#roundSeconds,
        signal,
        onChanges: (changes, position) => this.#tell(changes, position),
      })
      .finally(() => round.abort());
    if ((await reading) === 'future') return { outcome: 'future', error: undefined };
    return this.#finishRound(end);
  }

  async #finishRound({ ended, error, changes, lastedMs }: WatchEnd): Promise<RoundEnd | undefined> {
    if (ended === 'aborted') return undefined;
    if (changes > 0 || lastedMs >= steadyMs) this.#failures = 0;
    if (error !== undefined) return { outcome: findRefusal(error) ?? 'broken', error };
    if (lastedMs < steadyMs)
      return { outcome: 'broken', error: new Error('the server ends watches at once') };
    const reading = this.#takeReading(this.#hasChanged ? this.#position : undefined);
    if (reading !== undefined) {
      const { readAtMs: asOfMs } = reading;
      await this.#request.onProgress({ changes: [], position: this.#position, asOfMs });
    }
    return undefined;
  }

  async #tell(changes: readonly WatchChange[], position: string): Promise<void> {
    const asOfMs = this.#takeReading(position)?.readAtMs;
    await this.#request.onProgress({ changes, position, asOfMs });
    this.#position = position;
    if (changes.length > 0) this.#hasChanged = true;
  }

  /** The reading if what is known up to `position` includes it; `undefined` for all that the server had. */
  #takeReading(position: string | undefined): Reading | undefined {
    const reading = this.#reading;
    if (reading === undefined) return undefined;
    if (position !== undefined && !includesVersion(position, reading.resourceVersion)) return undefined;
    this.#reading = undefined;
    return reading;
  }

  /** Reads shortly before the round's end. That it fails costs no more than an as-of: the watch will tell why. */
  async #readLate(signal: AbortSignal): Promise<'future' | undefined> {
    try {
      await this.#tools.clock.sleep(this.#roundSeconds * 1000 - readAheadMs, signal);
      return await this.#read(signal);
    } catch {
      return undefined;
    }
  }

  async #read(signal: AbortSignal): Promise<'future' | undefined> {
    const { client, clock } = this.#tools;
    const readAtMs = clock.now();
    const position = this.#position;
    const resourceVersion = await client.readResourceVersion(this.#request, { signal });
    if (isOlder(resourceVersion, position)) return 'future';
    this.#reading = { resourceVersion, readAtMs };
    this.#hasChanged = false;
    return undefined;
  }

  async #pause(error: Error | undefined): Promise<void> {
    const { onTrouble, signal } = this.#request;
    const { clock, randomness } = this.#tools;
    this.#failures += 1;
    if (error !== undefined) onTrouble?.(error, this.#failures);
    try {
      await clock.sleep(getPauseMs(backOff, this.#failures, randomness), signal);
    } catch (reason) {
      if (!signal.aborted) throw reason;
    }
  }
}
