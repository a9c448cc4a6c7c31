import { Semaphore } from '#core/concurrency.ts';
import { getErrorMessage } from '#core/errors.ts';

/** Something could not be looked at: its row says so, and the rest goes on. */
export class NotReadError extends Error {
  override readonly name = 'NotReadError';
  /** The permission that was refused; undefined where it failed for another reason. */
  readonly refusedAction: string | undefined;

  constructor(message: string, refusedAction?: string) {
    super(message);
    this.refusedAction = refusedAction;
  }
}

/** Milliseconds that one call may take, its repetitions included. */
const callTimeoutMs = 15_000;

/** Calls at once. */
const calls = new Semaphore(8);

/** Characters of what AWS says that are shown. */
const messageLengthMax = 300;

/** Names by which services say that there is no such thing. */
const missingPattern = /NotFound|NoSuch|DoesNotExist|NonExistent/;

/** Names by which services refuse who has no permission; other refusals are of credentials, and fail everything. */
const refusedPattern = /AccessDenied|UnauthorizedOperation|AuthorizationError|NotAuthorized|Forbidden/;

/**
 * Calls AWS, some calls at once, each with its time-out.
 *
 * @param action what IAM must allow for it
 * @returns undefined where there is no such thing
 * @throws NotReadError where it is refused, fails, or takes too long
 */
export async function callAccount<Output>(
  action: string,
  call: (abortSignal: AbortSignal) => Promise<Output>,
): Promise<Output | undefined> {
  const release = await calls.acquire();
  try {
    return await call(AbortSignal.timeout(callTimeoutMs));
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw toNotReadError(error, action);
  } finally {
    release();
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
