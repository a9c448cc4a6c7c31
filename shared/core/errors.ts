import { errorsToldMax, errorTextMax } from './request-limits.ts';

/**
 * Errors whose message may be shown to a user. Each edge (HTTP, queue) turns them into its own outcome in one
 * place; anything that is not a VisibleError is a defect and shows as an internal error without its message.
 */
export class VisibleError extends Error {
  override name = 'VisibleError';
}

/** How an error about bad input came to be. */
export interface InvalidInputOptions extends ErrorOptions {
  /** Violations besides those that are given. Default 0. */
  readonly omitted?: number;
}

/** Input that cannot be accepted as it is. */
export class InvalidInputError extends VisibleError {
  override name = 'InvalidInputError';
  /** The first violations, one sentence for each: at least one, at most {@link errorsToldMax}. */
  readonly told: readonly string[];
  /** How many more there are. */
  readonly omitted: number;

  constructor(errors: readonly string[] | string, { omitted = 0, ...options }: InvalidInputOptions = {}) {
    const list = typeof errors === 'string' ? [errors] : errors;
    const told = list.slice(0, errorsToldMax).map(cutText);
    const more = list.length - told.length + omitted;
    super(toSentences(told, more).join('; '), options);
    this.told = told;
    this.omitted = more;
  }

  /** What is told, and behind it how many more violations there are, if there are. */
  get errors(): readonly string[] {
    return toSentences(this.told, this.omitted);
  }
}

function toSentences(told: readonly string[], omitted: number): readonly string[] {
  return omitted === 0 ? told : [...told, `and ${omitted} more`];
}

function cutText(text: string): string {
  return text.length <= errorTextMax ? text : `${text.slice(0, errorTextMax - 1)}…`;
}

/** Gathers what is wrong with a request, and keeps no more of it than is told. */
export class ViolationList {
  readonly #told: string[] = [];
  #omitted = 0;
  #denial: string | undefined;

  /** Adds a violation that is a right that is missing. It counts as one, though nobody is told of it among so many others. */
  refuse(denial: string): void {
    this.#denial ??= denial;
    this.add(new InvalidInputError(denial));
  }

  /** Adds the violations of an error. */
  add({ told, omitted }: InvalidInputError): void {
    for (const text of told) {
      if (this.#told.length < errorsToldMax) this.#told.push(text);
      else this.#omitted += 1;
    }
    this.#omitted += omitted;
  }

  /** @throws InvalidInputError with all of them, if there is any: a RefusedOperationsError where one is a right that is missing. */
  check(): void {
    const options = { omitted: this.#omitted };
    if (this.#denial !== undefined)
      throw new RefusedOperationsError(this.#told, { ...options, denial: this.#denial });
    if (this.#told.length > 0) throw new InvalidInputError(this.#told, options);
  }
}

/**
 * Operations that the caller may not have run. Clouddriver answers them as it does invalid ones, 400: Orca shows its users the
 * violations then.
 */
export class RefusedOperationsError extends InvalidInputError {
  override name = 'RefusedOperationsError';
  /** The violation that is a refusal. */
  readonly denial: string;

  constructor(
    errors: readonly string[] | string,
    { denial, ...options }: InvalidInputOptions & { readonly denial: string },
  ) {
    super(errors, options);
    this.denial = denial;
  }
}

/** A request that cannot be done as things stand, in the words of Clouddriver, which answers 400 with them. */
export class RefusedChangeError extends VisibleError {
  override name = 'RefusedChangeError';
}

/** What is to be made is there already: 409. */
export class ConflictError extends VisibleError {
  override name = 'ConflictError';
}

/** The thing is not any more what the caller takes it for: 412. */
export class PreconditionFailedError extends VisibleError {
  override name = 'PreconditionFailedError';
}

/** The thing asked for does not exist. */
export class NotFoundError extends VisibleError {
  override name = 'NotFoundError';
}

/** Nobody knows who the caller is: the proof that the installation asks for is missing or wrong. */
export class UnauthenticatedError extends VisibleError {
  override name = 'UnauthenticatedError';
}

/** The caller may not do this. */
export class AccessDeniedError extends VisibleError {
  override name = 'AccessDeniedError';
}

/** The route exists, but not for this method. `allowed` lists the methods it has. */
export class MethodNotAllowedError extends VisibleError {
  override name = 'MethodNotAllowedError';
  readonly allowed: readonly string[];

  constructor(method: string, allowed: readonly string[]) {
    super(`Request method '${method}' is not supported (supported: ${allowed.join(', ')})`);
    this.allowed = allowed;
  }
}

/** The request is larger than a limit; the message names the limit. */
export class TooLargeError extends VisibleError {
  override name = 'TooLargeError';
}

/** Something we depend on is away for the moment: the caller should try again. */
export class UnavailableError extends VisibleError {
  override name = 'UnavailableError';
}

/** More is asked at the moment than is taken on: a state that is expected, and no failure. */
export class OverloadError extends UnavailableError {
  override name = 'OverloadError';
  /** After how many seconds the caller is to come again. */
  readonly retryAfterSeconds: number;

  constructor(message: string, retryAfterSeconds: number) {
    super(message);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The environment of this process is set wrong: a mistake of whoever runs it, whoever calls. */
export class ConfigurationError extends VisibleError {
  override name = 'ConfigurationError';
}

/** What was asked for goes on, but is not done in the time that there is for the answer: 504. */
export class OverdueError extends VisibleError {
  override name = 'OverdueError';
}

/** A state in which the request makes no sense, or a failure of a system behind us that retrying will not mend. */
export class FailedOperationError extends VisibleError {
  override name = 'FailedOperationError';
}

/** A system behind us, such as a cluster, does not answer, or says that it cannot for the moment. */
export class UnreachableError extends FailedOperationError {
  override name = 'UnreachableError';
}

/** An account's cluster is not called for now, since it could not be reached a moment ago. */
export class AccountDownError extends UnreachableError {
  override name = 'AccountDownError';
}

/** The text of anything thrown, for logs and wrapped messages. */
export function getErrorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
