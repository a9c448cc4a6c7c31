import { errorsToldMax, errorTextMax } from './request-limits.ts';

/**
 * Errors whose message users may see. Each edge (HTTP, queue) turns them into its own outcome in one place; any other error is a defect,
 * shown as an internal error without its message.
 */
export class VisibleError extends Error {
  override name = 'VisibleError';
}

/** Details of an error about bad input. */
export interface InvalidInputOptions extends ErrorOptions {
  /** Number of violations besides the given ones. Default 0. */
  readonly omitted?: number;
}

/** Input that cannot be accepted. */
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

  /** The first violations, followed by the number of the others, if any. */
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

/** Gathers the violations of a request, and keeps no more of them than are reported. */
export class ViolationList {
  readonly #told: string[] = [];
  #omitted = 0;
  #denial: string | undefined;

  /** Adds a missing right as a violation. It counts as one, even if it is left out after too many others. */
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

  /** @throws InvalidInputError with all of them, if there are any: a RefusedOperationsError where one is a missing right. */
  check(): void {
    const options = { omitted: this.#omitted };
    if (this.#denial !== undefined)
      throw new RefusedOperationsError(this.#told, { ...options, denial: this.#denial });
    if (this.#told.length > 0) throw new InvalidInputError(this.#told, options);
  }
}

/** Operations that the caller may not do: 400, as for invalid ones, since Orca then shows its users the violations. */
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

/** A request that cannot be done at present, in Clouddriver's words: it answers 400. */
export class RefusedChangeError extends VisibleError {
  override name = 'RefusedChangeError';
}

/** What is to be created exists already: 409. */
export class ConflictError extends VisibleError {
  override name = 'ConflictError';
}

/** The resource is not in the state that the caller expects: 412. */
export class PreconditionFailedError extends VisibleError {
  override name = 'PreconditionFailedError';
}

/** The requested resource does not exist. */
export class NotFoundError extends VisibleError {
  override name = 'NotFoundError';
}

/** The caller is unknown: the required proof of identity is missing or wrong. */
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

/** A dependency is unavailable for the moment: the caller should try again. */
export class UnavailableError extends VisibleError {
  override name = 'UnavailableError';
}

/** More requests than are accepted at the moment: an expected state, and no failure. */
export class OverloadError extends UnavailableError {
  override name = 'OverloadError';
  /** Seconds after which the caller should try again. */
  readonly retryAfterSeconds: number;

  constructor(message: string, retryAfterSeconds: number) {
    super(message);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The environment of this process is wrong: a mistake of its operator, not of the caller. */
export class ConfigurationError extends VisibleError {
  override name = 'ConfigurationError';
}

/** The requested work goes on, but is not done in the time for the answer: 504. */
export class OverdueError extends VisibleError {
  override name = 'OverdueError';
}

/** A state in which the request makes no sense, or a failure of a system behind us that a retry will not mend. */
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

/** The text of any error, for logs and wrapped messages. */
export function getErrorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
