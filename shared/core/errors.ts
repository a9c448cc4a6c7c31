/**
 * Errors whose message may be shown to a user. Each edge (HTTP, queue) turns them into its own outcome in one
 * place; anything that is not a VisibleError is a defect and shows as an internal error without its message.
 */
export class VisibleError extends Error {
  override name = 'VisibleError';
}

/** Input that cannot be accepted as it is. `errors` holds one sentence for each violation, at least one. */
export class InvalidInputError extends VisibleError {
  override name = 'InvalidInputError';
  readonly errors: readonly string[];

  constructor(errors: readonly string[] | string, options?: ErrorOptions) {
    const list = typeof errors === 'string' ? [errors] : errors;
    super(list.join('; '), options);
    this.errors = list;
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

  constructor(errors: readonly string[], denial: string) {
    super(errors);
    this.denial = denial;
  }
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

/** A state in which the request makes no sense, or a failure of a system behind us that retrying will not mend. */
export class FailedOperationError extends VisibleError {
  override name = 'FailedOperationError';
}

/** The text of anything thrown, for logs and wrapped messages. */
export function getErrorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
