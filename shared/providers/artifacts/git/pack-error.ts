import { FailedOperationError } from '#core/errors.ts';

/** The error for an invalid pack. The details would not help a user. */
export function damaged(cause?: unknown): FailedOperationError {
  return new FailedOperationError('The git server sent a damaged pack', { cause });
}
