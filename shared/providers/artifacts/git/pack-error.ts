import { FailedOperationError } from '#core/errors.ts';

/** A pack that is not as git writes it. What is wrong with it is of no use to a user. */
export function damaged(cause?: unknown): FailedOperationError {
  return new FailedOperationError('The git server sent a damaged pack', { cause });
}
