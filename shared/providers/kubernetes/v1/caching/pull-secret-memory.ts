import { createHmac, randomBytes } from 'node:crypto';
import type { Clock } from '#core/clock.ts';
import type { PullSecret } from './pull-secrets.ts';

/** A correct pull secret is read again after this time, milliseconds: it may have been changed. */
export const pullSecretCheckMs = 600_000;

/**
 * What one process knows of an account's pull secrets: which were correct, and when. It holds no credentials, only hashes under a key that
 * exists only in the process.
 */
export class PullSecretMemory {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #key = randomBytes(32);
  /** By namespace and name. */
  readonly #kept = new Map<string, { readonly hash: string; readonly atMs: number }>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Whether the secret of a namespace was recently found to hold this. */
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
