import type { Clock } from '#core/clock.ts';
import { openBase } from '#platform/services/base.ts';
import type { Services } from '#platform/services/services.ts';

/** Milliseconds over which they are spread, at most: operations wait for them. */
const spreadMaxMs = 300_000;

/** Milliseconds after which a session that was not heard of is counted no more: agents ask each minute at least. */
const silenceMs = 120_000;

/** Sessions that are counted at most. */
const countedMax = 100_000;

/** The fractional part of the golden ratio: its multiples lie evenly between 0 and 1, however many there are. */
const goldenShare = (Math.sqrt(5) - 1) / 2;

/** Gives each session that this process hears of a place among all of them. */
export class SessionPlaces {
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** By the ids of sessions, those that were heard of last at the end. */
  readonly #seen = new Map<string, { readonly number: number; readonly seenMs: number }>();
  #count = 0;

  constructor({ clock }: { readonly clock: Pick<Clock, 'monotonic'> }) {
    this.#clock = clock;
  }

  /**
   * The place of a session that is heard of now: the more there are, the longer they take, five minutes at most.
   *
   * @param intervalMs milliseconds between two of them
   */
  note(session: string, intervalMs: number): { readonly returnMs: number; readonly spreadMs: number } {
    const nowMs = this.#clock.monotonic();
    const number = this.#seen.get(session)?.number ?? this.#count++;
    this.#seen.delete(session);
    this.#seen.set(session, { number, seenMs: nowMs });
    for (const [id, { seenMs }] of this.#seen) {
      if (nowMs - seenMs <= silenceMs && this.#seen.size <= countedMax) break;
      this.#seen.delete(id);
    }
    const spreadMs = Math.min(spreadMaxMs, this.#seen.size * intervalMs);
    return { spreadMs, returnMs: Math.floor(((number * goldenShare) % 1) * spreadMs) };
  }
}

/** The places of this process. */
export function openSessionPlaces(services: Services): SessionPlaces {
  return services.get(createPlaces);
}

function createPlaces(services: Services): SessionPlaces {
  return new SessionPlaces(openBase(services));
}
