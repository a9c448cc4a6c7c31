import { getRandomMs } from '#core/back-off.ts';
import type { Clock, Randomness } from '#core/clock.ts';
import { waits } from '#core/deadline.ts';

/** When to come back, as Busdriver says. */
export interface ToldPlace {
  readonly returnMs?: number | undefined;
  readonly spreadMs?: number | undefined;
}

/** Dependencies of waiting. */
export interface ReturnPlaceOptions {
  readonly clock: Pick<Clock, 'monotonic' | 'sleep'>;
  readonly randomness: Pick<Randomness, 'fraction'>;
}

/** Of the spread, the part after which who failed in his place tries again: behind those whose place is yet to come. */
const nextShare = 0.5;

/** Milliseconds after which another call tries where the one that does has not ended. */
const tryMs = 30_000;

/** Milliseconds in which a connection shows that it ended as well where a call was lost. */
const doubtMs = 1_000;

/** Milliseconds after which all calls go as they come once Busdriver is back, at most: where there are few agents it is less. Until then … */
const settleMaxMs = 10_000;
/** … one goes after the other, on one connection: each waits so many milliseconds for the one before, at most. */
const turnMs = 1_000;

/** How a call ended: answered, without a connection, or unknown. */
export type CallEnd = 'answered' | 'lost' | 'unknown';

/**
 * When this agent comes back to a Busdriver that was away: that gives each agent another time, so that a thousand do not come at one moment.
 * Until then nothing is asked of it, whatever there is to do; then one call tries, and all others wait for what becomes of that. Where it
 * is answered they follow one by one for a moment: together each would ask for a connection of its own.
 */
export class ReturnPlace {
  readonly #clock: Pick<Clock, 'monotonic' | 'sleep'>;
  readonly #randomness: Pick<Randomness, 'fraction'>;
  #told: ToldPlace = {};
  #isAway = false;
  #tries = 0;
  #isTrying = false;
  #heldUntilMs = 0;
  #settledMs = Number.NEGATIVE_INFINITY;
  /** How often Busdriver was found to be away. */
  #absences = 0;
  /** Whether there is a connection whose end would show that Busdriver went away. */
  #isConnected = false;
  /** Whether a call was lost though the connection stayed. */
  #isDoubtful = false;
  #doubtUntilMs = Number.NEGATIVE_INFINITY;
  /** Aborted when who waits is to look again. */
  #change = new AbortController();
  /** Aborted when Busdriver is back. */
  #back = new AbortController();

  constructor({ clock, randomness }: ReturnPlaceOptions) {
    this.#clock = clock;
    this.#randomness = randomness;
  }

  /** Takes the times of an answer. Those left out stay as they were. */
  take({ returnMs = this.#told.returnMs, spreadMs = this.#told.spreadMs }: ToldPlace): void {
    this.#told = { returnMs, spreadMs };
  }

  /** Milliseconds until a try that follows one that failed; 0 where no time was given. */
  getNextMs(): number {
    return getRandomMs(this.#told.spreadMs ?? 0, this.#randomness, nextShare);
  }

  /** The connection for hints is there. */
  connect(): void {
    this.#isConnected = true;
  }

  /** It ended. @param isLost whether for no reason that concerns this agent alone: then all may have lost theirs */
  disconnect(isLost: boolean): void {
    if (isLost && this.#isConnected && !this.#isAway) this.#hold();
    this.#isConnected = false;
  }

  /** A connection for calls ended, as they do now and then: where Busdriver died, that for hints is about to end as well. */
  doubt(): void {
    if (this.#isConnected && !this.#isAway) this.#doubtUntilMs = this.#clock.monotonic() + doubtMs;
  }

  /**
   * Notes how a call ended. One may be lost by itself where the connection for hints stays.
   *
   * @param turn what the wait for the call resolved to: one that was made before Busdriver went away does not show whether it is back
   */
  end(turn: number, end: CallEnd): void {
    if (turn !== this.#absences) return;
    if (end === 'answered') this.#comeBack();
    else if (this.#isAway) this.#hold();
    else {
      if (this.#isSettling) this.#tell();
      if (end === 'lost') this.#loseCall();
    }
  }

  /** Waits until a call may be made. Never rejects: where a signal is aborted the wait is over. @returns what its end is told with */
  async wait(...signals: readonly (AbortSignal | undefined)[]): Promise<number> {
    await this.#wait(true, signals);
    return this.#absences;
  }

  /** Waits until a call was answered, where Busdriver is away. Never rejects: where the signal is aborted the wait is over. */
  async waitUntilBack(signal: AbortSignal): Promise<void> {
    await this.#wait(false, [signal]);
  }

  /** The same clock, whose pauses are over once Busdriver that was away is back: for pauses between two tries. */
  get clock(): Pick<Clock, 'monotonic' | 'sleep'> {
    return {
      monotonic: () => this.#clock.monotonic(),
      sleep: async (ms, signal) => {
        await waits(this.#clock, ms, AbortSignal.any([this.#back.signal, ...(signal ? [signal] : [])]));
        signal?.throwIfAborted();
      },
    };
  }

  get #isSettling(): boolean {
    return !this.#isAway && this.#clock.monotonic() < this.#settledMs;
  }

  async #wait(mayTry: boolean, signals: readonly (AbortSignal | undefined)[]): Promise<void> {
    const given = signals.filter((signal) => signal !== undefined);
    await this.#waitForDoubt(given);
    while ((this.#isAway || (mayTry && this.#isSettling)) && !given.some(({ aborted }) => aborted)) {
      const heldMs = this.#isAway ? this.#heldUntilMs - this.#clock.monotonic() : 0;
      if (heldMs <= 0 && mayTry && !this.#isTrying) {
        this.#isTrying = true;
        return;
      }
      const signal = AbortSignal.any([this.#change.signal, ...given]);
      const isUnchanged = await waits(this.#clock, heldMs > 0 ? heldMs : this.#tryMs, signal);
      if (isUnchanged && heldMs <= 0) this.#isTrying = false;
    }
  }

  /** How long the call that goes before the others is waited for. */
  get #tryMs(): number {
    return this.#isAway ? tryMs : turnMs;
  }

  /** A try at once after Busdriver died finds nothing, and so do all: the end of the connection is to be heard of first. */
  async #waitForDoubt(signals: readonly AbortSignal[]): Promise<void> {
    const restMs = this.#doubtUntilMs - this.#clock.monotonic();
    if (this.#isAway || restMs <= 0) return;
    await waits(this.#clock, restMs, AbortSignal.any([this.#change.signal, ...signals]));
  }

  /** The first call that is lost may be lost by itself. */
  #loseCall(): void {
    if (this.#isDoubtful || !this.#isConnected) this.#hold();
    else this.doubt();
    this.#isDoubtful = true;
  }

  #comeBack(): void {
    if (this.#isAway) {
      this.#settledMs = this.#clock.monotonic() + Math.min(settleMaxMs, this.#told.spreadMs ?? 0);
      this.#back.abort('Busdriver is back');
      this.#back = new AbortController();
    }
    this.#isAway = false;
    this.#tries = 0;
    this.#isDoubtful = false;
    this.#doubtUntilMs = Number.NEGATIVE_INFINITY;
    this.#tell();
  }

  #hold(): void {
    const pauseMs = this.#tries === 0 ? (this.#told.returnMs ?? 0) : this.getNextMs();
    this.#tries += 1;
    this.#absences += 1;
    this.#isAway = true;
    this.#heldUntilMs = this.#clock.monotonic() + pauseMs;
    this.#tell();
  }

  #tell(): void {
    this.#isTrying = false;
    this.#change.abort('something is other than it was');
    this.#change = new AbortController();
  }
}
