import { retry } from '#core/back-off.ts';
import type { Clock, Randomness } from '#core/clock.ts';
import { within } from '#core/deadline.ts';
import { FailedOperationError, UnreachableError, VisibleError } from '#core/errors.ts';
import { Authentication, credentialsRefused } from '#oci/authentication.ts';
import type { BasicCredentials } from '#oci/credentials.ts';
import { smallAnswerBytesMax } from '#oci/limits.ts';
import { HttpClient } from '#provider-kit/http-client/http-client.ts';
import { RequestBudget } from '#provider-kit/request-budget.ts';
import type { RegistryAccount } from './account.ts';
import { assertForeignUrlAllowed, createForeignLookup } from './foreign-hosts.ts';
import {
  answerBytesMax,
  redirectsMax,
  requestsAtOnce,
  requestsPerSecond,
  retryAfterMaxMs,
  triesMax,
} from './limits.ts';

/** Time limit of connecting, milliseconds. */
const connectMs = 10_000;

/** The most bytes of an answer's headers. */
const headersBytesMax = 64 * 2 ** 10;

const backOff = { firstMs: 500, fixedShare: 0.5 };

/** Statuses of transient errors. */
const passingStatuses = new Set([429, 502, 503, 504]);

const redirectStatuses = new Set([301, 302, 303, 307, 308]);

/** A request to a registry. */
export interface RegistryRequest {
  readonly url: URL;
  readonly method?: 'GET' | 'HEAD';
  readonly accept: string;
  /** The scope of its token, in the form of token servers. */
  readonly scope: string;
  readonly signal: AbortSignal;
}

/** A complete answer. */
export interface RegistryAnswer {
  /** The URL that answered: the target of the last redirect, if there was one. */
  readonly url: URL;
  readonly statusCode: number;
  /** A header by its name in lower case; several of one name are joined by commas. Empty if there is none. */
  getHeader(name: string): string;
  readonly body: Uint8Array;
}

interface SenderOptions {
  readonly account: RegistryAccount;
  readonly credentials: BasicCredentials;
  readonly clock: Clock;
  readonly randomness: Randomness;
}

/** An answer with a transient error. */
class PassingError extends FailedOperationError {}

/** One request to one URL. */
interface Hop {
  readonly url: URL;
  readonly method: 'GET' | 'HEAD';
  readonly accept: string;
  readonly authorization: string | undefined;
  readonly signal: AbortSignal;
  readonly bytesMax: number;
}

/**
 * Sends the requests of one account: authenticated, at its pace, within its limits; to its registry at any address, and to other hosts at
 * public ones unless trusted. Disposing of it cuts its connections.
 */
export class RegistrySender implements AsyncDisposable {
  readonly #options: SenderOptions;
  readonly #budget: RequestBudget;
  readonly #authentication: Authentication;
  readonly #own: HttpClient;
  readonly #foreign: HttpClient;

  constructor(options: SenderOptions) {
    const { account, clock, credentials } = options;
    const { insecure, threads } = account;
    const shared = { connections: requestsAtOnce * threads, connectMs, headersBytesMax };
    this.#own = new HttpClient({ ...shared, insecure });
    this.#foreign = new HttpClient({ ...shared, lookup: createForeignLookup(account) });
    this.#options = options;
    const qps = requestsPerSecond * account.threads;
    this.#budget = new RequestBudget({ qps, burst: qps }, clock);
    this.#authentication = new Authentication({
      baseUrl: account.baseUrl,
      credentials,
      clock,
      ask: async (url, authorization, signal) => {
        const hop = { url, method: 'GET', accept: 'application/json', authorization, signal } as const;
        const { statusCode, body } = await this.#sendAgain({ ...hop, bytesMax: smallAnswerBytesMax });
        return { statusCode, text: new TextDecoder().decode(body) };
      },
    });
  }

  /**
   * Sends a request, authenticates if required, and follows the registry's redirects; retries transient failures.
   *
   * @returns any answer but a refusal of the credentials.
   * @throws FailedOperationError if there is no answer; AccessDeniedError if the registry redirects to a forbidden host; the signal's
   *   reason. Messages name only hosts of URLs, and never quote an answer.
   */
  async send({ scope, signal, ...request }: RegistryRequest): Promise<RegistryAnswer> {
    const hop = { method: 'GET', ...request, signal, bytesMax: answerBytesMax } as const;
    const authorization = await this.#authentication.getHeader(scope, signal);
    const answer = await this.#follow({ ...hop, authorization });
    if (answer.statusCode !== 401) return answer;
    const next = await this.#authentication.replace(
      { scope, origin: answer.url.origin, header: answer.getHeader('www-authenticate'), sent: authorization },
      signal,
    );
    const second = await this.#follow({ ...hop, authorization: next });
    if (second.statusCode !== 401 || second.url.origin !== answer.url.origin) return second;
    throw new FailedOperationError(credentialsRefused);
  }

  /** Follows the registry's redirects; the account's credentials go only to its own host. */
  async #follow(first: Hop): Promise<RegistryAnswer> {
    let hop = first;
    for (let redirects = 0; redirects <= redirectsMax; redirects += 1) {
      const answer = await this.#sendAgain(hop);
      if (!redirectStatuses.has(answer.statusCode)) return answer;
      const target = URL.parse(answer.getHeader('location'), hop.url.href);
      if (target === null)
        throw new FailedOperationError('the registry answered a redirect without a target');
      const isOwn = target.origin === first.url.origin;
      hop = { ...hop, url: target, authorization: isOwn ? first.authorization : undefined };
    }
    throw new FailedOperationError(`the registry answered more than ${redirectsMax} redirects`);
  }

  #sendAgain(hop: Hop): Promise<RegistryAnswer> {
    const { account, clock, randomness } = this.#options;
    if (hop.url.origin !== account.baseUrl.origin) {
      assertForeignUrlAllowed(hop.url, account);
    }
    const isRetryable = (error: unknown) => error instanceof PassingError || !(error instanceof VisibleError);
    return retry({ backOff, triesMax, clock, randomness, signal: hop.signal, isRetryable }, async () => {
      await this.#budget.take(hop.signal);
      return this.#sendOnce(hop);
    }).catch((error: unknown) => {
      hop.signal.throwIfAborted();
      throw error instanceof VisibleError ? error : toFailure(error, hop.url);
    });
  }

  async #sendOnce(hop: Hop): Promise<RegistryAnswer> {
    const { account, clock } = this.#options;
    const deadline = { ms: account.timeoutMs, what: 'the answer', signal: hop.signal };
    const answer = await within(clock, deadline, (signal) => this.#exchange({ ...hop, signal }));
    if (!passingStatuses.has(answer.statusCode)) return answer;
    const waitMs = Number(answer.getHeader('retry-after') || 0) * 1000;
    if (waitMs > 0) await clock.sleep(Math.min(waitMs, retryAfterMaxMs), hop.signal);
    throw new PassingError(`${hop.url.host} answered ${answer.statusCode}`);
  }

  async #exchange({ url, method, accept, authorization, signal, bytesMax }: Hop): Promise<RegistryAnswer> {
    const headers = {
      accept,
      'accept-encoding': 'identity',
      'docker-distribution-api-version': 'registry/2.0',
      'user-agent': 'busdriver',
      ...(authorization !== undefined && { authorization }),
    };
    const client = url.origin === this.#options.account.baseUrl.origin ? this.#own : this.#foreign;
    const { status, bytes, getHeader } = await client.send({ url, method, headers, signal, bytesMax });
    if (bytes === undefined)
      throw new FailedOperationError(`${url.host} answered more than ${bytesMax} bytes`);
    return { url, statusCode: status, body: bytes, getHeader };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#own[Symbol.asyncDispose](), this.#foreign[Symbol.asyncDispose]()]);
  }
}

/** The error of a failed connection, by its code: Node's messages contain addresses. */
function toFailure(error: unknown, { host }: URL): Error {
  const causes = [error, error instanceof Error ? error.cause : undefined];
  const denied = causes.find((cause) => cause instanceof VisibleError);
  if (denied instanceof VisibleError) return denied;
  const codes = causes.flatMap((cause) =>
    cause instanceof Error && 'code' in cause ? [String(cause.code)] : [],
  );
  const reason = codes[0] ?? (error instanceof Error ? error.name : 'it broke off');
  return new UnreachableError(`${host} cannot be reached: ${reason}`, { cause: error });
}
