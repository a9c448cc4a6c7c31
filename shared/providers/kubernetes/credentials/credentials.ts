import type { Clock } from '#core/clock.ts';

/** What authenticates us to an API server: a header, a client certificate, or both. */
export interface Credential {
  /** The whole value of the Authorization header. */
  readonly authorization?: string | undefined;
  /** PEM. */
  readonly certificate?: string | undefined;
  /** PEM. */
  readonly key?: string | undefined;
  /** When it stops being accepted, wall time in milliseconds since the epoch; undefined if it never expires by itself. */
  readonly expiresAtMs?: number | undefined;
  /** What to do when the server refuses it, for errors. Default `renew them`. */
  readonly advice?: string | undefined;
}

/**
 * Where credentials come from: a kubeconfig's constants, an exec plugin, a presigned request. It makes a fresh one each time;
 * `CredentialCache` remembers it. To support another way of authenticating, add such a function.
 *
 * @param request.refused true if the server refused the last credential before its expiry.
 */
export type CredentialSource = (request?: { readonly refused: boolean }) => Promise<Credential>;

/** Renewed this long before it expires, at the latest … */
const renewAheadMs = 60_000;
/** … but not before this part of its life is over. */
const renewAfterFraction = 0.8;
/** After a renewal ahead of time failed, the old credential is used at least this long before the next attempt. */
const renewalPauseMs = 5_000;

/**
 * Remembers the credential of one source. One source call runs at a time however many requests wait for it. Ahead of
 * its expiry a credential is renewed while requests go on with it.
 */
export class CredentialCache {
  readonly #source: CredentialSource;
  readonly #clock: Clock;
  #current: Credential | undefined;
  #renewAtMs = 0;
  #refused = false;
  #pending: Promise<Credential> | undefined;

  constructor(source: CredentialSource, clock: Clock) {
    this.#source = source;
    this.#clock = clock;
  }

  /** The credential for a request now, or undefined if there is no valid one: then `renew` makes it. */
  get(): Credential | undefined {
    const now = this.#clock.now();
    if (now < this.#renewAtMs) return this.#current;
    if (this.#current?.expiresAtMs === undefined || now >= this.#current.expiresAtMs) return undefined;
    this.#renewAhead(now);
    return this.#current;
  }

  /** A fresh credential; simultaneous callers share one call of the source. */
  renew(): Promise<Credential> {
    this.#pending ??= this.#load().finally(() => {
      this.#pending = undefined;
    });
    return this.#pending;
  }

  /** Forgets `credential`, which the server refused, unless another one has already replaced it. */
  discard(credential: Credential): void {
    if (this.#current !== credential) return;
    this.#current = undefined;
    this.#refused = true;
    this.#renewAtMs = 0;
  }

  #renewAhead(now: number): void {
    this.#renewAtMs = now + renewalPauseMs;
    // A failure here does not fail the request: it shows once the credential has expired.
    this.renew().catch(() => undefined);
  }

  async #load(): Promise<Credential> {
    const startedAtMs = this.#clock.now();
    const credential = await this.#source({ refused: this.#refused });
    this.#refused = false;
    this.#current = credential;
    this.#renewAtMs = getRenewalTime(credential, startedAtMs);
    return credential;
  }
}

function getRenewalTime(credential: Credential, startedAtMs: number): number {
  if (credential.expiresAtMs === undefined) return Number.POSITIVE_INFINITY;
  const lifeMs = credential.expiresAtMs - startedAtMs;
  return startedAtMs + Math.max(lifeMs - renewAheadMs, lifeMs * renewAfterFraction);
}
