import { getPauseMs } from '#core/back-off.ts';
import type { Randomness } from '#core/clock.ts';
import { includesVersion, isOlder } from '../api/resource-version.ts';
import type { CatchUpTools, Reading } from './catch-up-kind.ts';
import { findRefusal } from './kind-refusal.ts';
import type { KindScope, WatchChange, WatchEnd } from './watch.ts';

/** Progress of a watched kind. */
export interface WatchProgress {
  /** In order; empty if only the resource version or the as-of time advances. */
  readonly changes: readonly WatchChange[];
  /** Everything up to it has been reported: where a successor can continue. */
  readonly resourceVersion: string;
  /** Everything up to this time, wall time in milliseconds, has been reported; undefined if nothing newer is known. */
  readonly asOfMs: number | undefined;
}

/** What to watch. */
export interface KindWatchRequest extends KindScope {
  /** The resource version up to which everything is known, from a list or an earlier catch-up. */
  readonly resourceVersion: string;
  readonly signal: AbortSignal;
  /**
   * A watch lasts this long and the next one follows; the as-of time advances once in each, even for a kind that does not change. Default:
   * 30; at least 5.
   */
  readonly timeoutSeconds?: number | undefined;
  /** Called with progress; more is read from the server once it resolves. */
  onProgress(progress: WatchProgress): void | Promise<void>;
  /** Called with what proves on demand how current the watch is: see `KindProver`. It has no effect after the end. */
  onProvable?(prove: KindProver): void;
  /** Called with each failure after which the watch is retried: `failures` in a row, from 1. */
  onTrouble?(error: Error, failures: number): void;
}

/**
 * Proves on demand that everything up to now was reported, and reports that time as progress: it reads the server's newest resource
 * version, and waits until the stream has reached it, or is silent for a while. If that takes more than two seconds it resolves anyway, and
 * the as-of time comes with the end of the watch.
 *
 * @throws what `onProgress` throws, KubernetesApiError, KubernetesConnectionError, or the signal's reason
 */
export type KindProver = () => Promise<void>;

/** Why watching ended: see `ReadOutcome`; `aborted` also if the client was closed. */
export interface KindWatchOutcome {
  readonly outcome: 'aborted' | 'expired' | 'future' | 'forbidden' | 'gone';
  readonly error?: Error | undefined;
}

/** The tools for watching. */
export interface KindWatchTools extends CatchUpTools {
  readonly randomness: Randomness;
}

const defaultTimeoutSeconds = 30;
/**
 * Once a stream is silent for this long after the newest version was read, and after its own beginning or last event, it has reported
 * everything, milliseconds. Reading that version makes the server's cache, which feeds watches, catch up.
 */
const silenceMs = 400;
/** The longest that a proof takes, milliseconds. */
const proofMs = 2_000;
/** How often to check whether a stream has come far enough, milliseconds. */
const proofLookMs = 20;
/** How long before the end of a watch the server is asked for its newest resource version: its bookmark comes 2 s before. */
const readAheadMs = 4_000;
const backOff = { firstMs: 500, mostMs: 30_000 };
/** A watch that lasted this long did not fail. */
const steadyMs = 1_000;

/**
 * Watches a kind from a resource version on until it is aborted or cannot continue: watch after watch, with pauses after failures.
 *
 * @throws what `onProgress` throws
 */
export function watchKind(request: KindWatchRequest, tools: KindWatchTools): Promise<KindWatchOutcome> {
  return new KindWatch(request, tools).run();
}

/** How a watch ended that has no successor, or one only after a pause (`broken`). */
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
  /** The newest reading that the stream has not reached yet. */
  #reading: Reading | undefined;
  /** Whether a change was reported since. */
  #hasChanged = false;
  /** When the current watch began or last reported, by the monotonic clock; undefined without one, and during a report. */
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
    // The server may be behind only at the beginning, or after an interruption: a continuing stream has kept up with it.
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
    // Another cluster, or a restored one: the watch will notice.
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
    // Also if its client was closed without an abort: another watch would end at once, and so would the next.
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

  /** The reading if `resourceVersion` includes it; an undefined `resourceVersion` includes everything. */
  #takeReading(resourceVersion: string | undefined): Reading | undefined {
    const reading = this.#reading;
    if (reading === undefined) return undefined;
    if (resourceVersion !== undefined && !includesVersion(resourceVersion, reading.resourceVersion))
      return undefined;
    this.#reading = undefined;
    return reading;
  }

  /** Reads shortly before the watch's end. A failure costs only an as-of time: the watch will report the reason. */
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
