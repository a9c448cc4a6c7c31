import { createHash, timingSafeEqual } from 'node:crypto';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { Clock } from '#core/clock.ts';
import { createSecretSource, type SecretSource } from '#platform/aws/identity/secret-source.ts';
import { readConfig } from '#platform/config.ts';
import type { Services } from '#platform/services/services.ts';
import { systemClock } from '#platform/services/system.ts';

/** Milliseconds after which the secret is read again … */
const lifetimeMs = 300_000;
/** … or when a token does not match it, with at least this pause in milliseconds. */
const rereadPauseMs = 10_000;

/** A shorter secret could be guessed. */
const secretLengthMin = 16;

/** Options for AWS: API Gateway waits ten seconds for an authorizer. */
const clientOptions = {
  maxAttempts: 2,
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 3_000, throwOnRequestTimeout: true },
};

/** A secret that callers must know. Its current and its previous version are accepted, so that one change interrupts no caller. */
export class SharedSecret {
  readonly #source: SecretSource;
  readonly #clock: Pick<Clock, 'monotonic'>;
  #digests: readonly Buffer[] = [];
  #readAtMs = Number.NEGATIVE_INFINITY;

  constructor(source: SecretSource, clock: Pick<Clock, 'monotonic'>) {
    this.#source = source;
    this.#clock = clock;
  }

  /** Whether the token is the secret, in constant time. @throws Error when it cannot be read, or has fewer than 16 characters */
  async matches(token: string): Promise<boolean> {
    const digest = toDigest(token);
    return (await this.#includes(digest, lifetimeMs)) || (await this.#includes(digest, rereadPauseMs));
  }

  async #includes(digest: Buffer, ageMaxMs: number): Promise<boolean> {
    if (this.#clock.monotonic() - this.#readAtMs > ageMaxMs) await this.#read();
    return this.#digests.some((known) => timingSafeEqual(known, digest));
  }

  async #read(): Promise<void> {
    const [current, previous] = await Promise.all([
      this.#source.find('AWSCURRENT'),
      this.#source.find('AWSPREVIOUS'),
    ]);
    const texts = [current ?? '', previous ?? ''].map((text) => text.trim());
    if ((texts[0] ?? '').length < secretLengthMin) {
      throw new Error(`the shared secret must have at least ${secretLengthMin} characters`);
    }
    this.#digests = texts.filter((text) => text.length >= secretLengthMin).map(toDigest);
    this.#readAtMs = this.#clock.monotonic();
  }
}

/** The secret that the environment names. @throws Error when it names none */
export function openSharedSecret(services: Services): SharedSecret {
  return services.get(createSharedSecret);
}

function createSharedSecret({ environment }: Services): SharedSecret {
  const { authorizerSecretArn } = readConfig(environment);
  if (authorizerSecretArn === undefined) throw new Error('no secret is configured for the authorizer');
  const source = createSecretSource(new SecretsManagerClient(clientOptions), authorizerSecretArn);
  return new SharedSecret(source, systemClock);
}

function toDigest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
