/** How fast a bucket fills, and how much it holds. */
export interface TokenRate {
  /** Tokens a second. */
  readonly rate: number;
  /** Tokens that a full bucket holds. */
  readonly burst: number;
  /** Buckets that are kept. */
  readonly bucketsMax: number;
}

interface Bucket {
  tokens: number;
  /** By `performance.now()`. */
  filledAtMs: number;
}

/** A bucket of tokens for each name: each request takes one, and the bucket fills steadily. */
export class TokenBuckets {
  readonly #rate: TokenRate;
  readonly #now: () => number;
  /** Those asked last come last. */
  readonly #buckets = new Map<string, Bucket>();

  /** @param now milliseconds, default `performance.now` */
  constructor(rate: TokenRate, now: () => number = () => performance.now()) {
    this.#rate = rate;
    this.#now = now;
  }

  /** How many buckets there are. */
  get size(): number {
    return this.#buckets.size;
  }

  /** Takes a token of a name's bucket. @returns whether there was one */
  take(name: string): boolean {
    const bucket = this.#fill(name);
    this.#buckets.delete(name);
    this.#buckets.set(name, bucket);
    this.#forgetOldest();
    if (bucket.tokens < 1) return false;
    bucket.tokens -= 1;
    return true;
  }

  #fill(name: string): Bucket {
    const nowMs = this.#now();
    const { rate, burst } = this.#rate;
    const bucket = this.#buckets.get(name) ?? { tokens: burst, filledAtMs: nowMs };
    bucket.tokens = Math.min(burst, bucket.tokens + ((nowMs - bucket.filledAtMs) * rate) / 1000);
    bucket.filledAtMs = nowMs;
    return bucket;
  }

  #forgetOldest(): void {
    if (this.#buckets.size <= this.#rate.bucketsMax) return;
    const [oldest] = this.#buckets.keys();
    if (oldest !== undefined) this.#buckets.delete(oldest);
  }
}
