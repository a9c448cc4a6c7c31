import {
  FailedOperationError,
  InvalidInputError,
  NotFoundError,
  TooLargeError,
  VisibleError,
} from '#core/errors.ts';

/** The last message of a thread. */
export type ThreadAnswer = { readonly result: unknown } | { readonly error: PackedError };

/** An error as sent between threads, which keeps no class. */
export interface PackedError {
  readonly name: string;
  readonly message: string;
  readonly isVisible: boolean;
  readonly stack: string | undefined;
}

/** Errors of jobs that users may see. */
const visibleErrors = { InvalidInputError, NotFoundError, TooLargeError } as const;

/** An error in a form that can be sent to another thread. */
export function packError(error: unknown): PackedError {
  const { name, message, stack } = error instanceof Error ? error : new Error(String(error));
  return { name, message, stack, isVisible: error instanceof VisibleError };
}

/** The error that a thread sent. A visible one of a class that jobs do not throw becomes a failure. */
export function unpackError({ name, message, isVisible, stack }: PackedError): Error {
  if (!isVisible) return Object.assign(new Error(message), { name, stack });
  const [, Visible = FailedOperationError] =
    Object.entries(visibleErrors).find(([known]) => known === name) ?? [];
  return new Visible(message);
}
