import { getPauseMs } from '#core/back-off.ts';
import type { Clock, Randomness } from '#core/clock.ts';
import { includesVersion, isOlder } from '../api/resource-version.ts';
import type { Reading } from './catch-up-kind.ts';
import { findRefusal } from './kind-refusal.ts';
import type { KindScope, WatchChange, WatchEnd } from './watch.ts';
import type { WatchClient } from './watch-client.ts';

/** What has become known of a watched kind. */
export interface WatchProgress {
  /** In their order; none when only the resource version or the as-of advances. */
  readonly changes: readonly WatchChange[];
  /** Everything up to it has been told: where a successor can go on. */
  readonly resourceVersion: string;
  /** Everything that was so at this time, wall time in milliseconds, has been told; undefined when nothing newer is known. */
  readonly asOfMs: number | undefined;
}

/** What to watch. */
export interface KindWatchRequest extends KindScope {
  /** The resource version up to which everything is known, of a list or of an earlier catch-up. */
  readonly resourceVersion: string;
  readonly signal: AbortSignal;
  /**
   * A watch lasts this long and the next one follows it; once in each, the as-of advances, also of a kind that does not
   * change. Default: 30; at least 5.
   */
  readonly timeoutSeconds?: number | undefined;
  /** Takes progress; more is taken from the server when it is done. */
  onProgress(progress: WatchProgress): void | Promise<void>;
  /** Takes what proves on demand how far it has come: see `KindProver`. It is of no use after the end. */
  onProvable?(prove: KindProver): void;
  /** Told of each failure after which the watch is tried again: `failures` in a row, from 1. */
  onTrouble?(error: Error, failures: number): void;
}

/**
 * Proves on demand that everything up to now was told, and tells the as-of of that as progress: the server is asked for its newest resource
 * version, and the stream has come to that, or is silent for a while afterwards. Where that cannot be said within two seconds it resolves all
 * the same, and the as-of comes with the end of the watch.
 *
 * @throws what `onProgress` throws, KubernetesApiError, KubernetesConnectionError, or the signal's reason
 */
export type KindProver = () => Promise<void>;

/** Why watching ended: see `CatchUpOutcome`; `aborted` also when the client was closed. */
export interface KindWatchOutcome {
  readonly outcome: 'aborted' | 'expired' | 'future' | 'forbidden' | 'gone';
  readonly error?: Error | undefined;
}

/** What watching needs. */
export interface KindWatchTools {
  readonly client: WatchClient;
  readonly clock: Clock;
  readonly randomness: Randomness;
}

const defaultTimeoutSeconds = 30;
/**
 * A stream that is silent for so long after the server named its newest version, and after it was begun or told something, has told
 * everything, milliseconds. Reading that version makes the server's cache, of which watches are told, catch up.
 */
const silenceMs = 400;
/** A proof takes no longer, milliseconds. */
const proofMs = 2_000;
/** How often it is looked whether a stream has come far enough, milliseconds. */
const proofLookMs = 20;
/** How long before the end of a watch the server is asked for its newest resource version: its bookmark comes 2 s before. */
const readAheadMs = 4_000;
const backOff = { firstMs: 500, mostMs: 30_000 };
/** A watch that lasted so long did not fail. */
const steadyMs = 1_000;

/**
 * Watches a kind from a resource version on until it is aborted or cannot go on: watch after watch, with pauses where they fail.
 *
 * @throws what `onProgress` throws
 */
export function watchKind(request: KindWatchRequest, tools: KindWatchTools): Promise<KindWatchOutcome> {
  return new KindWatch(request, tools).run();
}

/** How a watch ended after which there is no next one, or after a pause only (`broken`). */
interface OneWatchEnd {
  readonly outcome: KindWatchOutcome['outcome'] | 'broken';
  readonly error: Error | undefined;
}

class KindWatch {
  readonly #request: KindWatchRequest;
  readonly #tools: KindWatchTools;
  readonly #timeoutSeconds: number;
  #resourceVersion: string;
  #failures = 0;
  /** The newest reading that the stream has not come to yet. */
  #reading: Reading | undefined;
  /** Whether a change was told since. */
  #hasChanged = false;
  /** When the present watch was begun, or told something, by the monotonic clock; undefined while there is none, or that is being taken. */
  #heardAtMs: number | undefined;

  constructor(request: KindWatchRequest, tools: KindWatchTools) {
    this.#request = request;
    this.#tools = tools;
    this.#timeoutSeconds = request.timeoutSeconds ?? defaultTimeoutSeconds;
    this.#resourceVersion = request.resourceVersion;
  }

  async run(): Promise<KindWatchOutcome> {
    const { signal, onProvable } = this.#request;
    onProvable?.(() => this.#prove());
    // Only where it begins, or begins again, the server may be behind: a stream that goes on has kept up with it.
    let isResumed = true;
    while (!signal.aborted) {
      const end = await this.#tryWatch(isResumed);
      isResumed = end !== undefined;
      if (end === undefined || signal.aborted) continue;
      const { outcome, error } = end;
      if (outcome === 'broken') await this.#pause(error);
      else return { outcome, error };
    }
    return { outcome: 'aborted' };
  }

  async #tryWatch(isResumed: boolean): Promise<OneWatchEnd | undefined> {
    try {
      if (isResumed && (await this.#readNow()) === 'future') return { outcome: 'future', error: undefined };
      return await this.#watchOnce();
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
    const reading = this.#takeReading(this.#resourceVersion);
    if (reading === undefined) return undefined;
    await onProgress({ changes: [], resourceVersion: this.#resourceVersion, asOfMs: reading.readAtMs });
    return undefined;
  }

  async #prove(): Promise<void> {
    const { onProgress, signal } = this.#request;
    const { client, clock } = this.#tools;
    const [asOfMs, known] = [clock.now(), this.#resourceVersion];
    const newest = await client.readResourceVersion(this.#request, { signal });
    // Another cluster, or one that was restored: the watch will notice.
    if (isOlder(newest, known)) return;
    const readAtMs = clock.monotonic();
    const isTold = (): boolean => includesVersion(this.#resourceVersion, newest);
    const isSilent = (): boolean =>
      this.#heardAtMs !== undefined && Math.max(this.#heardAtMs, readAtMs) + silenceMs <= clock.monotonic();
    while (!isTold() && !isSilent()) {
      if (clock.monotonic() - readAtMs >= proofMs) return;
      await clock.sleep(proofLookMs, signal);
    }
    await onProgress({ changes: [], resourceVersion: this.#resourceVersion, asOfMs });
  }

  async #watchOnce(): Promise<OneWatchEnd | undefined> {
    const ending = new AbortController();
    const signal = AbortSignal.any([this.#request.signal, ending.signal]);
    const reading = this.#readLate(signal).then((found) => {
      if (found === 'future') ending.abort();
      return found;
    });
    const end = await this.#tools.client
      .watch({
        ...this.#request,
        resourceVersion: this.#resourceVersion,
        timeoutSeconds: this.#timeoutSeconds,
        signal,
        onBegin: () => {
          this.#heardAtMs = this.#tools.clock.monotonic();
        },
        onChanges: (changes, resourceVersion) => this.#tell(changes, resourceVersion),
      })
      .finally(() => {
        this.#heardAtMs = undefined;
        ending.abort();
      });
    if ((await reading) === 'future') return { outcome: 'future', error: undefined };
    return this.#finishWatch(end);
  }

  async #finishWatch({ ended, error, changes, lastedMs }: WatchEnd): Promise<OneWatchEnd | undefined> {
    // Also where its client was closed, and nobody aborted it: another watch would end at once, and the next one.
    if (ended === 'aborted') return { outcome: 'aborted', error: undefined };
    if (changes > 0 || lastedMs >= steadyMs) this.#failures = 0;
    if (error !== undefined) return { outcome: findRefusal(error) ?? 'broken', error };
    if (lastedMs < steadyMs)
      return { outcome: 'broken', error: new Error('the server ends watches at once') };
    const reading = this.#takeReading(this.#hasChanged ? this.#resourceVersion : undefined);
    if (reading !== undefined) {
      const { readAtMs: asOfMs } = reading;
      await this.#request.onProgress({ changes: [], resourceVersion: this.#resourceVersion, asOfMs });
    }
    return undefined;
  }

  async #tell(changes: readonly WatchChange[], resourceVersion: string): Promise<void> {
    const asOfMs = this.#takeReading(resourceVersion)?.readAtMs;
    this.#heardAtMs = undefined;
    await this.#request.onProgress({ changes, resourceVersion, asOfMs });
    this.#resourceVersion = resourceVersion;
    this.#heardAtMs = this.#tools.clock.monotonic();
    if (changes.length > 0) this.#hasChanged = true;
  }

  /** The reading if what is known up to `resourceVersion` includes it; `undefined` for all that the server had. */
  #takeReading(resourceVersion: string | undefined): Reading | undefined {
    const reading = this.#reading;
    if (reading === undefined) return undefined;
    if (resourceVersion !== undefined && !includesVersion(resourceVersion, reading.resourceVersion))
      return undefined;
    this.#reading = undefined;
    return reading;
  }

  /** Reads shortly before the watch's end. That it fails costs no more than an as-of: the watch will tell why. */
  async #readLate(signal: AbortSignal): Promise<'future' | undefined> {
    try {
      await this.#tools.clock.sleep(this.#timeoutSeconds * 1000 - readAheadMs, signal);
      return await this.#read(signal);
    } catch {
      return undefined;
    }
  }

  async #read(signal: AbortSignal): Promise<'future' | undefined> {
    const { client, clock } = this.#tools;
    const readAtMs = clock.now();
    const known = this.#resourceVersion;
    const resourceVersion = await client.readResourceVersion(this.#request, { signal });
    if (isOlder(resourceVersion, known)) return 'future';
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
