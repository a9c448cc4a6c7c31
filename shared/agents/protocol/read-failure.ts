import {
  AccessDeniedError,
  AccountDownError,
  FailedOperationError,
  getErrorMessage,
  InvalidInputError,
  NotFoundError,
  TooLargeError,
  UnavailableError,
  UnreachableError,
  VisibleError,
} from '#core/errors.ts';
import { readErrorLengthMax, readViolationLengthMax, readViolationsMax } from '../live-read.ts';
import type { ReadFailure } from './messages.ts';

/** Errors of live reads. Of two that are kinds of each other the narrower comes first. */
const errorTypes = [
  NotFoundError,
  AccessDeniedError,
  TooLargeError,
  UnavailableError,
  AccountDownError,
  UnreachableError,
  FailedOperationError,
] as const;

const invalidInput = 'InvalidInputError';

/** An error in an agent that is none of the user's business; its log has it. */
const defect: ReadFailure = { name: 'Error', message: 'the agent failed; its log has the reason' };

/** An error as an agent reports it; of a defect nothing but that it is one. */
export function toReadFailure(error: unknown): ReadFailure {
  if (!(error instanceof VisibleError)) return defect;
  const message = getErrorMessage(error).slice(0, readErrorLengthMax);
  if (error instanceof InvalidInputError) {
    const told = error.told.slice(0, readViolationsMax);
    return { name: invalidInput, message, errors: told.map((each) => each.slice(0, readViolationLengthMax)) };
  }
  const type = errorTypes.find((each) => error instanceof each) ?? FailedOperationError;
  return { name: type.name, message };
}

/** The error that such a report is about: the one that a direct read would have thrown. */
export function fromReadFailure({ name, message, errors }: ReadFailure): Error {
  if (name === invalidInput) return new InvalidInputError(errors?.length ? errors : message);
  const Type = errorTypes.find((each) => each.name === name);
  return Type === undefined ? new Error(message) : new Type(message);
}
