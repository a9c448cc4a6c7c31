import { getErrorMessage } from '../../shared/core/errors.ts';
import type { AccountRead } from './account-reads.ts';
import type { AwsClients } from './aws-clients.ts';

/** Something could not be looked at: that is told in its row, and the rest goes on. */
export class NotReadError extends Error {
  override readonly name = 'NotReadError';
  /** The permission that was refused; undefined where it failed for another reason. */
  readonly refusedAction: string | undefined;

  constructor(message: string, refusedAction?: string) {
    super(message);
    this.refusedAction = refusedAction;
  }
}

/** How the account is read. */
export interface AccountReaderOptions {
  /** Milliseconds that one call may take, its repetitions and its waiting for AWS included. */
  readonly callTimeoutMs?: number;
  /** Calls at once. */
  readonly callsMax?: number;
}

const callTimeoutDefaultMs = 15_000;
const callsDefaultMax = 8;

/** Pages that are followed: what has more is counted no further. */
export const pagesMax = 20;

/** Names by which services say that there is no such thing. */
const missingPattern = /NotFound|NoSuch|DoesNotExist|NonExistent/;

/** Names by which services refuse who has no permission; other refusals are of credentials, and fail everything. */
const refusedPattern = /AccessDenied|UnauthorizedOperation|AuthorizationError|NotAuthorized|Forbidden/;

/** Asks AWS: several calls at once, each with its time-out. */
export class AccountReader {
  readonly #clients: AwsClients;
  readonly #callTimeoutMs: number;
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(clients: AwsClients, options: AccountReaderOptions = {}) {
    this.#clients = clients;
    this.#callTimeoutMs = options.callTimeoutMs ?? callTimeoutDefaultMs;
    this.#free = options.callsMax ?? callsDefaultMax;
  }

  /** The region that is asked. @throws Error when nothing names one */
  getRegion(): Promise<string> {
    return this.#clients.sts.config.region();
  }

  /**
   * Calls one operation.
   *
   * @throws NotReadError when it is refused, fails, takes too long, or says that there is no such thing
   */
  async get<Input, Output>(read: AccountRead<Input, Output>, input: Input): Promise<Output> {
    const answer = await this.find(read, input);
    if (answer === undefined) throw new NotReadError(`${read.action}: there is no such thing`);
    return answer;
  }

  /**
   * Calls one operation.
   *
   * @returns undefined when there is no such thing
   * @throws NotReadError when it is refused, fails, or takes too long
   */
  async find<Input, Output>(read: AccountRead<Input, Output>, input: Input): Promise<Output | undefined> {
    await this.#takeTurn();
    try {
      const abortSignal = AbortSignal.timeout(this.#callTimeoutMs);
      return await read.send(this.#clients, input, { abortSignal });
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw toNotReadError(error, read.action);
    } finally {
      this.#free++;
      this.#waiting.shift()?.();
    }
  }

  /**
   * Calls an operation page after page, `pagesMax` at most.
   *
   * @param toInput the input of a page, by the token of the answer before; that of the first by undefined
   * @param getToken the token of the next page; undefined or empty when there is none
   */
  async list<Input, Output>(
    read: AccountRead<Input, Output>,
    toInput: (token: string | undefined) => Input,
    getToken: (answer: Output) => string | undefined,
  ): Promise<Output[]> {
    const answers: Output[] = [];
    let token: string | undefined;
    do {
      const answer: Output = await this.get(read, toInput(token));
      answers.push(answer);
      token = getToken(answer);
    } while (token && answers.length < pagesMax);
    return answers;
  }

  async #takeTurn(): Promise<void> {
    while (this.#free === 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#free--;
  }
}

function isMissing(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // CloudFormation has no error of its own for a stack that does not exist.
  return missingPattern.test(error.name) || /does not exist/.test(error.message);
}

function toNotReadError(error: unknown, action: string): NotReadError {
  const name = error instanceof Error ? error.name : '';
  if (refusedPattern.test(name)) return new NotReadError(`needs ${action}`, action);
  if (/Abort|Timeout/.test(name)) return new NotReadError(`${action} was not answered in time`);
  return new NotReadError(`${action} failed: ${name}: ${getErrorMessage(error)}`.slice(0, messageLengthMax));
}

/** Characters of what AWS says that are shown. */
const messageLengthMax = 300;
