import { getRandomMs } from '#core/back-off.ts';
import type { Clock, Randomness } from '#core/clock.ts';
import type { Lookup, LookupKey, LookupStore } from '#platform/ports/lookup.ts';
import type { KnownSecret, SecretReading, SecretReference } from './secret-reference.ts';

interface RefreshedSecretsOptions {
  /** Where processes share which version a secret has, never its text. Left out, each process finds out for itself. */
  readonly store?: Pick<LookupStore, 'find' | 'replace'> | undefined;
  readonly clock: Pick<Clock, 'now'>;
  readonly randomness: Pick<Randomness, 'fraction'>;
  /** Reads a secret's current text. */
  readonly load: (reference: SecretReference) => Promise<Pick<SecretReading, 'text' | 'versionId'>>;
}

/** Milliseconds after which a secret is checked again at most. */
export const secretLifetimeMs = 300_000;

/** The part of that time after which one process checks for all: the first whose turn comes. */
const dueFraction = 0.8;

/** Milliseconds for which others wait while one process checks, or has just failed to. */
const lookPauseMs = 10_000;

/**
 * Texts of secrets that stay up to date although all processes together read each only once every few minutes: the one that reads it tells
 * the others which version it found. They read it again only if theirs is another version.
 */
export class RefreshedSecrets {
  readonly #options: RefreshedSecretsOptions;

  constructor(options: RefreshedSecretsOptions) {
    this.#options = options;
  }

  /** See `SecretReader.follow`. */
  async follow(reference: SecretReference, known?: KnownSecret): Promise<SecretReading> {
    if (known === undefined) return this.#read(reference);
    if (known.reading.versionId === undefined) return this.#read(reference);
    if (known.isDoubted) return this.#readDoubted(reference, known.reading);
    const seen = await this.#find(reference);
    return seen === 'away' ? this.#read(reference) : this.#look(reference, known.reading, seen);
  }

  async #look(
    reference: SecretReference,
    known: SecretReading,
    seen: Lookup | undefined,
  ): Promise<SecretReading> {
    const now = this.#options.clock.now();
    if (seen === undefined || now >= seen.asOfMs + secretLifetimeMs * dueFraction) {
      const isFree = seen === undefined || now >= seen.notBeforeMs;
      return isFree ? this.#readForAll(reference, known, seen) : this.#wait(known);
    }
    if (seen.value === known.versionId) return this.#keep(known, seen.asOfMs);
    // A process that reports an older version than is known here read it before it changed.
    return seen.asOfMs > known.asOfMs ? this.#read(reference) : this.#readForAll(reference, known, seen);
  }

  async #readForAll(
    reference: SecretReference,
    known: SecretReading,
    seen: Lookup | undefined,
  ): Promise<SecretReading> {
    const { clock } = this.#options;
    const before = { value: seen?.value, asOfMs: seen?.asOfMs ?? 0, reason: '', repeats: 0 };
    const next = { ...before, state: 'asking', notBeforeMs: clock.now() + lookPauseMs } as const;
    const claimed = await this.#replace(reference, seen, next);
    if (claimed === undefined) return this.#wait(known);
    const reading = await this.#read(reference);
    if (claimed !== 'away') await this.#tell(reference, claimed, reading);
    return reading;
  }

  /** The secret may have changed: then other processes need not find out by themselves. */
  async #readDoubted(reference: SecretReference, known: SecretReading): Promise<SecretReading> {
    const reading = await this.#read(reference);
    if (reading.versionId === known.versionId) return reading;
    const seen = await this.#find(reference);
    if (seen !== 'away') await this.#tell(reference, seen, reading);
    return reading;
  }

  async #read(reference: SecretReference): Promise<SecretReading> {
    const { clock, load } = this.#options;
    // Taken first, so that a change during the read counts as later.
    const asOfMs = clock.now();
    const { text, versionId } = await load(reference);
    return this.#keep({ text, versionId, asOfMs, readAgainAtMs: 0 }, asOfMs);
  }

  /** Known to be current at a time: to be checked again in turn before it expires. */
  #keep(known: SecretReading, asOfMs: number): SecretReading {
    const lifetimeMs = getRandomMs(secretLifetimeMs, this.#options.randomness, dueFraction);
    return { ...known, asOfMs, readAgainAtMs: asOfMs + lifetimeMs };
  }

  #wait(known: SecretReading): SecretReading {
    const { clock, randomness } = this.#options;
    return { ...known, readAgainAtMs: clock.now() + getRandomMs(lookPauseMs, randomness, 0.2) };
  }

  #tell(
    reference: SecretReference,
    seen: Lookup | undefined,
    { versionId, asOfMs }: SecretReading,
  ): Promise<unknown> {
    const next = {
      state: 'answered',
      value: versionId,
      asOfMs,
      notBeforeMs: 0,
      reason: '',
      repeats: 0,
    } as const;
    return this.#replace(reference, seen, next);
  }

  async #find(reference: SecretReference): Promise<Lookup | undefined | 'away'> {
    try {
      return this.#options.store === undefined ? 'away' : await this.#options.store.find(toKey(reference));
    } catch {
      return 'away';
    }
  }

  async #replace(
    reference: SecretReference,
    seen: Lookup | undefined,
    next: Omit<Lookup, 'versionNumber'>,
  ): Promise<Lookup | undefined | 'away'> {
    try {
      return await this.#options.store?.replace(toKey(reference), { seen, next });
    } catch {
      return 'away';
    }
  }
}

function toKey({ engine, id, region = '' }: SecretReference): LookupKey {
  return engine === undefined ? ['SECRET', region, id] : ['SECRET', region, engine, id];
}
