import { createHmac, randomBytes } from 'node:crypto';
import type { Clock } from '#core/clock.ts';
import type { PullSecret } from './pull-secrets.ts';

/** A pull secret that holds what it should is read again after so many milliseconds: somebody may have changed it. */
export const pullSecretCheckMs = 600_000;

/**
 * What one process knows of the pull secrets of an account: which of them held what they should, and when. It holds no credential, only
 * hashes under a key that ends with the process.
 */
export class PullSecretMemory {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #key = randomBytes(32);
  /** By namespace and name. */
  readonly #kept = new Map<string, { readonly hash: string; readonly atMs: number }>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Whether the secret of a namespace was found to hold this a short while ago. */
  isKept(secret: PullSecret, namespace: string): boolean {
    const known = this.#kept.get(toKey(secret, namespace));
    if (known?.hash !== this.#hash(secret)) return false;
    return this.#clock.monotonic() - known.atMs < pullSecretCheckMs;
  }

  /** Notes that the secret of a namespace holds this. */
  note(secret: PullSecret, namespace: string): void {
    this.#kept.set(toKey(secret, namespace), { hash: this.#hash(secret), atMs: this.#clock.monotonic() });
  }

  /** Forgets the secrets of other namespaces than these. */
  keepOnly(namespaces: readonly string[]): void {
    const wanted = new Set(namespaces);
    for (const key of this.#kept.keys()) {
      if (!wanted.has(key.slice(0, key.indexOf('/')))) this.#kept.delete(key);
    }
  }

  #hash({ dockercfg }: PullSecret): string {
    return createHmac('sha256', this.#key).update(dockercfg).digest('base64url');
  }
}

function toKey({ name }: PullSecret, namespace: string): string {
  return `${namespace}/${name}`;
}
