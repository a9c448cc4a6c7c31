import { type BackOff, retry } from '#core/back-off.ts';
import type { Clock, Randomness } from '#core/clock.ts';
import { isJsonObject } from '#core/json.ts';
import type { SessionKeeper } from '../hub/agent-session.ts';
import { HubAwayError, type HubCall, HubRefusalError } from '../hub/hub-client.ts';

/** Pauses between tries while Busdriver is away: a watch goes on, and its lease says until when. */
const backOff: BackOff = { firstMs: 500, mostMs: 5_000 };
const triesMax = 6;

/** Milliseconds for one call: a batch of many new objects takes its time. */
const callMs = 25_000;

/** Dependencies of calls about caches. */
export interface CacheCallsOptions {
  readonly session: Pick<SessionKeeper, 'call'>;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly randomness: Pick<Randomness, 'fraction'>;
}

/** A call about what is cached of an account. */
export interface CacheCall extends Pick<HubCall, 'method' | 'body' | 'packed' | 'signal'> {
  /** Last part of the path. */
  readonly what: 'claims' | 'epoch' | 'heads' | 'changes' | 'prunes';
  readonly query?: { readonly [name: string]: string | undefined };
}

/** Busdriver says that the lease is another agent's. */
export class CacheHeldError extends Error {
  override name = 'CacheHeldError';
  /** When the lease ends unless it is renewed, milliseconds by Busdriver's clock; undefined where that is unknown. */
  readonly nextRunMs: number | undefined;

  constructor(message: string, nextRunMs?: number) {
    super(message);
    this.nextRunMs = nextRunMs;
  }
}

/** Calls Busdriver about what is cached of accounts. */
export class CacheCalls {
  readonly #options: CacheCallsOptions;

  constructor(options: CacheCallsOptions) {
    this.#options = options;
  }

  /** The same, a few times while Busdriver is away. @throws as `callOnce` */
  call(account: string, call: CacheCall): Promise<unknown> {
    const isRetryable = (error: unknown): boolean => error instanceof HubAwayError;
    return retry({ ...this.#options, backOff, triesMax, isRetryable }, () => this.callOnce(account, call));
  }

  /** The body of the answer. @throws CacheHeldError for 409, HubRefusalError, HubAwayError */
  async callOnce(account: string, { what, query = {}, ...call }: CacheCall): Promise<unknown> {
    const given = Object.entries(query).filter((each): each is [string, string] => each[1] !== undefined);
    const search = given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
    const path = `/agent/v1/caches/${encodeURIComponent(account)}/${what}${search}`;
    const { status, body } = await this.#options.session.call({ ...call, path, timeoutMs: callMs });
    if (status === 409) {
      const nextRunMs = isJsonObject(body) ? body['nextRunMs'] : undefined;
      const message = `account ${account} is kept cached by another agent`;
      throw new CacheHeldError(message, typeof nextRunMs === 'number' ? nextRunMs : undefined);
    }
    return body;
  }
}

/** Whether what was sent is too large for one call. */
export function isTooLarge(error: unknown): boolean {
  return error instanceof HubRefusalError && error.status === 413;
}
