/** A rate is averaged over about this time, milliseconds: the first fill of a large application is no rate, an hour of load tests is. */
const windowMs = 5 * 60_000;

/** Changes a second; older ones count less and less. */
export class ChangeRate {
  #rate = 0;
  #atMs = 0;

  /**
   * Counts changes.
   *
   * @param nowMs monotonic time, milliseconds; never less than before
   */
  add(changes: number, nowMs: number): void {
    this.#rate = this.#rate * Math.exp((this.#atMs - nowMs) / windowMs) + (changes * 1000) / windowMs;
    this.#atMs = nowMs;
  }

  /** The rate as of the last count, to a tenth. */
  get perSecond(): number {
    return Math.round(this.#rate * 10) / 10;
  }
}
