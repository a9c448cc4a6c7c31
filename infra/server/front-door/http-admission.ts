import { OverloadError } from '#core/errors.ts';
import type { Route } from '#functions/routes.ts';
import { toErrorHeaders } from '#http/error-body.ts';
import { HttpError } from '../functions/http-error.ts';
import type { FrontDoorLimits } from './http-limits.ts';
import { TokenBuckets } from './token-buckets.ts';

/** The caller, and what they ask for. */
export interface RequestOrigin {
  /** Name of the caller. */
  readonly caller: string;
  /** The account that the path names. */
  readonly account: string | undefined;
  /** Default: `other`. */
  readonly kind?: RequestKind;
}

/**
 * What a request is for: operations are started and looked after (`POST /ops`, `GET /task`), and places are set aside for these; or a probe
 * asks whether this process is alive, which it is, however busy.
 */
export type RequestKind = 'operations' | 'health' | 'other';

/** The kind of a route's requests. */
export function findRequestKind({
  method,
  path,
  access,
}: Pick<Route, 'method' | 'path' | 'access'>): RequestKind {
  if (path === '/health' || path.startsWith('/health/')) return 'health';
  if (access === 'anonymous' || access === 'identified') return 'other';
  const looksAfterTasks = method === 'GET' && (access.task !== undefined || path === '/task');
  return access.operations || looksAfterTasks ? 'operations' : 'other';
}

/** A request's place at the front door. Disposing gives back what it took. */
export interface Place extends Disposable {
  /** Takes the request on. @throws HttpError 503 where there is no room for it */
  enter(origin: RequestOrigin): void;
  /** Takes further bytes of its body on. @throws HttpError 503 where there is no room for them */
  addBodyBytes(count: number): void;
}

/** Characters of a caller's and of an account's name that distinguish them. */
const nameMax = 256;

/** Decides which requests the front door takes on, by what is under way and by how many came before. */
export class Admission {
  readonly #limits: FrontDoorLimits;
  readonly #readLoopDelayMs: () => number;
  readonly #callerTokens: TokenBuckets;
  readonly #accountTokens: TokenBuckets;
  readonly #callerRequests = new Amounts();
  readonly #accountRequests = new Amounts();
  readonly #callerBytes = new Amounts();
  #requests = 0;
  #bytes = 0;

  /** @param readLoopDelayMs by how much the event loop was late in each of the last two seconds, milliseconds. Default: it was not */
  constructor(limits: FrontDoorLimits, readLoopDelayMs = () => 0) {
    const { callerRate, callerBurst, accountRate, accountBurst, countedNamesMax: bucketsMax } = limits;
    this.#limits = limits;
    this.#readLoopDelayMs = readLoopDelayMs;
    this.#callerTokens = new TokenBuckets({ rate: callerRate, burst: callerBurst, bucketsMax });
    this.#accountTokens = new TokenBuckets({ rate: accountRate, burst: accountBurst, bucketsMax });
  }

  /** A place that has taken nothing yet. */
  createPlace(): Place {
    const giveBack: (() => void)[] = [];
    let caller = '';
    let length = 0;
    return {
      enter: (origin) => {
        caller = origin.caller.slice(0, nameMax);
        const account = origin.account?.slice(0, nameMax);
        if (origin.kind !== 'health') this.#checkDelay();
        this.#checkRequests(caller, account, origin.kind === 'operations' ? 0 : 1);
        giveBack.push(this.#countRequest(caller, account));
      },
      addBodyBytes: (count) => {
        const counted = Math.min(count, Math.max(0, length + count - this.#limits.freeBodyBytes));
        length += count;
        if (counted > 0) giveBack.push(this.#countBytes(caller, counted));
      },
      [Symbol.dispose]: () => {
        for (const undo of giveBack.splice(0)) undo();
      },
    };
  }

  /** Whatever is taken on while the process is late makes all that it has begun still later. */
  #checkDelay(): void {
    const delayMs = this.#readLoopDelayMs();
    if (delayMs > this.#limits.loopDelayMaxMs)
      throw createOverloadError(`this process is ${Math.round(delayMs)} ms late`);
  }

  /** @param reserved 1 where the places that are set aside are not for this request, else 0 */
  #checkRequests(caller: string, account: string | undefined, reserved: 0 | 1): void {
    const { placesPerReserved } = this.#limits;
    const reduce = (places: number) => places - reserved * Math.floor(places / placesPerReserved);
    const requestsMax = reduce(this.#limits.requestsMax);
    const callerRequestsMax = reduce(this.#limits.callerRequestsMax);
    const accountRequestsMax = reduce(this.#limits.accountRequestsMax);
    if (this.#requests >= requestsMax) throw createOverloadError(`${requestsMax} requests are under way`);
    if (this.#callerRequests.get(caller) >= callerRequestsMax) {
      throw createOverloadError(`${callerRequestsMax} requests of this caller are under way`);
    }
    if (!this.#callerTokens.take(caller)) {
      throw createOverloadError(`this caller sends more than ${this.#limits.callerRate} requests a second`);
    }
    if (account === undefined) return;
    if (this.#accountRequests.get(account) >= accountRequestsMax) {
      throw createOverloadError(`${accountRequestsMax} requests for this account are under way`);
    }
    if (!this.#accountTokens.take(account)) {
      throw createOverloadError(
        `more than ${this.#limits.accountRate} requests a second come for this account`,
      );
    }
  }

  #countRequest(caller: string, account: string | undefined): () => void {
    this.#requests += 1;
    this.#callerRequests.add(caller, 1);
    if (account !== undefined) this.#accountRequests.add(account, 1);
    return () => {
      this.#requests -= 1;
      this.#callerRequests.add(caller, -1);
      if (account !== undefined) this.#accountRequests.add(account, -1);
    };
  }

  #countBytes(caller: string, count: number): () => void {
    const { bodyBytesMax, callerBodyBytesMax } = this.#limits;
    if (this.#bytes + count > bodyBytesMax)
      throw createOverloadError(`bodies of ${bodyBytesMax} bytes are under way`);
    if (this.#callerBytes.get(caller) + count > callerBodyBytesMax) {
      throw createOverloadError(`bodies of ${callerBodyBytesMax} bytes of this caller are under way`);
    }
    this.#bytes += count;
    this.#callerBytes.add(caller, count);
    return () => {
      this.#bytes -= count;
      this.#callerBytes.add(caller, -count);
    };
  }
}

/** An amount for each name that has any. */
class Amounts {
  readonly #amounts = new Map<string, number>();

  get(name: string): number {
    return this.#amounts.get(name) ?? 0;
  }

  add(name: string, amount: number): void {
    const sum = this.get(name) + amount;
    if (sum > 0) this.#amounts.set(name, sum);
    else this.#amounts.delete(name);
  }
}

/** The answer to what is too much. 503 and no other status: it is the only one on which Orca sends a POST again. @param retryMs when to try again. Default: as any 503 says */
export function createOverloadError(what: string, retryMs?: number): HttpError {
  const later = retryMs === undefined ? undefined : new OverloadError(what, Math.ceil(retryMs / 1_000));
  return new HttpError(503, `Too much at once: ${what}; try again`, toErrorHeaders(503, later));
}
