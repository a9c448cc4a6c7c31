import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { AuthenticationV1Api } from '@kubernetes/client-node';
import type { Clock } from '#core/clock.ts';
import { createConcurrencyLimit } from '#core/concurrency.ts';
import { getErrorMessage } from '#core/errors.ts';
import type { Logger } from '#core/logger.ts';
import type { ClusterApis } from '#providers/kubernetes/calls/cluster-apis.ts';

/** The audience of tokens by which replicas know each other: no other service takes them. */
export const peerAudience = 'busdriver-peer';

/** Characters of the longest token that is looked at. */
const tokenLengthMax = 8_192;

/** Milliseconds for which what the API server said of a token is remembered. */
const rememberedMs = 30_000;

/** Tokens of which that is remembered: there are as many good ones as replicas, and each is renewed once an hour. */
const rememberedMax = 200;

/** Tokens that the API server is asked about at a time. */
const reviewsAtOnce = 4;

/** Requests that wait for that; further ones are refused. */
const waitingMax = 64;

/** How peers are known. */
export interface PeerTokensOptions {
  readonly cluster: Pick<ClusterApis, 'get'>;
  /** File with this pod's own projected token of {@link peerAudience}; the kubelet renews it. */
  readonly file: string;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly log: Logger;
}

/** What is known of a token. */
interface Verdict {
  readonly user: string | undefined;
  readonly untilMs: number;
}

/**
 * Knows the replicas of this Deployment by the projected tokens of their service account, which is the same for all of them: the API
 * server says whose a token is (`TokenReview`).
 */
export class PeerTokens {
  readonly #options: PeerTokensOptions;
  /** By hashes of tokens. */
  readonly #verdicts = new Map<string, Verdict>();
  readonly #limit = createConcurrencyLimit(reviewsAtOnce);
  #waiting = 0;
  #complaint = '';

  constructor(options: PeerTokensOptions) {
    this.#options = options;
  }

  /** This pod's own token, to be shown to a peer. @throws Error when there is none */
  async read(): Promise<string> {
    await using file = await open(this.#options.file);
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(tokenLengthMax + 1) });
    const token = buffer.toString('latin1', 0, bytesRead).trim();
    if (isToken(token)) return token;
    throw new Error(`${this.#options.file} holds no service account token`);
  }

  /**
   * Whether the sender of this token is a replica of this Deployment. False also where that is unknown, which is logged once.
   *
   * @param authorization the header of the request
   */
  async isPeer(authorization: string | undefined): Promise<boolean> {
    const [, token = ''] = /^Bearer +([^ ]{1,8192})$/i.exec(authorization ?? '') ?? [];
    if (!isToken(token)) return false;
    try {
      const user = await this.#findUser(token);
      return user !== undefined && user === (await this.#findUser(await this.read()));
    } catch (error) {
      this.#complain(getErrorMessage(error));
      return false;
    }
  }

  async #findUser(token: string): Promise<string | undefined> {
    const key = createHash('sha256').update(token).digest('base64');
    const known = this.#verdicts.get(key);
    if (known !== undefined && known.untilMs > this.#options.clock.monotonic()) return known.user;
    if (this.#waiting >= waitingMax) throw new Error('too many tokens of peers are being checked');
    this.#waiting += 1;
    try {
      const user = await this.#limit(() => this.#review(token));
      this.#remember(key, user);
      return user;
    } finally {
      this.#waiting -= 1;
    }
  }

  /** @returns the user whose it is; undefined where it is not good for this audience */
  async #review(token: string): Promise<string | undefined> {
    const reviews = this.#options.cluster.get(AuthenticationV1Api);
    const spec = { token, audiences: [peerAudience] };
    const { status } = await reviews.createTokenReview({ body: { spec } });
    // A server that knows no audiences says nothing of them.
    const isGood = status?.authenticated === true && status.audiences?.includes(peerAudience) === true;
    return isGood ? status.user?.username : undefined;
  }

  /** The oldest is forgotten first. */
  #remember(key: string, user: string | undefined): void {
    this.#verdicts.delete(key);
    this.#verdicts.set(key, { user, untilMs: this.#options.clock.monotonic() + rememberedMs });
    for (const oldest of this.#verdicts.keys()) {
      if (this.#verdicts.size <= rememberedMax) break;
      this.#verdicts.delete(oldest);
    }
  }

  #complain(reason: string): void {
    if (reason === this.#complaint) return;
    this.#complaint = reason;
    this.#options.log.error('tokens of peers cannot be checked: they are refused', { reason });
  }
}

/** Three parts of a JWT. */
function isToken(text: string): boolean {
  return text.length <= tokenLengthMax && /^[\w-]+\.[\w-]+\.[\w-]+$/.test(text);
}
