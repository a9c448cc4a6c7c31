import { errors, type JWTVerifyGetKey, jwtVerify } from 'jose';
import type { Clock } from '../../core/clock.ts';
import type { Logger } from '../../core/logger.ts';
import type { AgentHome, AgentKeySource } from '../../core/settings/account.ts';
import { signatureAlgorithms } from './identity-settings.ts';
import { type KeySet, openKeySet } from './key-set.ts';

/** Seconds by which the clock of a cluster may differ from ours. */
const clockToleranceSeconds = 60;

/** Characters of a token at most. */
export const proofLengthMax = 16_384;

/** What proofs are verified with. */
export interface AgentProofsOptions {
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Logger;
  /** Whom tokens must be meant for. */
  readonly audience: string;
}

/** Verifies the projected service-account tokens by which agents prove who they are. */
export class AgentProofs {
  readonly #options: AgentProofsOptions;
  /** By where the keys are: an account that is read again has the same. */
  readonly #keys = new Map<string, KeySet>();
  readonly #given = new WeakMap<AgentKeySource, KeySet>();

  constructor(options: AgentProofsOptions) {
    this.#options = options;
  }

  /**
   * Why a token does not prove that its bearer is an agent of an account: in words that quote nothing of it. Undefined where it does.
   *
   * @throws UnavailableError when the account's keys cannot be had
   */
  async findFault(token: string, home: AgentHome): Promise<string | undefined> {
    if (token.length > proofLengthMax) return `the token is longer than ${proofLengthMax} characters`;
    const keys = this.#openKeys(home.keys);
    try {
      await this.#verify(token, home, keys);
      return undefined;
    } catch (error) {
      if (error instanceof errors.JOSEError) return error.message;
      throw error;
    }
  }

  async #verify(token: string, home: AgentHome, keys: KeySet): Promise<void> {
    const find = await keys.getKeys();
    try {
      await this.#verifyWith(token, home, find);
    } catch (error) {
      const newer = error instanceof errors.JWKSNoMatchingKey ? await keys.findNewerKeys() : undefined;
      if (newer === undefined) throw error;
      await this.#verifyWith(token, home, newer);
    }
  }

  async #verifyWith(token: string, { issuer, subject }: AgentHome, find: JWTVerifyGetKey): Promise<void> {
    await jwtVerify(token, find, {
      issuer,
      subject,
      audience: this.#options.audience,
      algorithms: [...signatureAlgorithms],
      clockTolerance: clockToleranceSeconds,
      currentDate: new Date(this.#options.clock.now()),
      requiredClaims: ['exp'],
    });
  }

  #openKeys(source: AgentKeySource): KeySet {
    const url = source.url?.href;
    const known = url === undefined ? this.#given.get(source) : this.#keys.get(url);
    if (known !== undefined) return known;
    const keys = openKeySet(source, this.#options);
    if (url === undefined) this.#given.set(source, keys);
    else this.#keys.set(url, keys);
    return keys;
  }
}
