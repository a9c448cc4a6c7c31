import type { AccountBreaker } from '#accounts/model/account-breaker.ts';
import type { CachingResult } from '#caching/scheduling/caching-agent.ts';
import { AccessDeniedError, FailedOperationError, UnreachableError } from '#core/errors.ts';

/** How often to check what other processes know of an account, at most, in milliseconds. */
export const healthLookMs = 60_000;

/** The longest chain of causes that is followed. */
const causesMax = 10;

/** The run to judge. */
interface JudgedRun {
  /** Receives the health of the account. Undefined if it is not reported. */
  readonly breaker: AccountBreaker | undefined;
  /** The run's signal. An aborted run says nothing of the account. */
  readonly signal: AbortSignal;
}

/**
 * Runs a caching agent, and reports the health of its account by the outcome: its registry answered, could not be reached, or returned a
 * wrong answer. Nothing waits for an unreachable registry: the next run calls it again.
 *
 * @throws what the run throws.
 */
export async function judgeRun(
  { breaker, signal }: JudgedRun,
  run: () => Promise<CachingResult>,
): Promise<CachingResult> {
  // Otherwise a newer report of another process would count as this one's.
  await breaker?.learn(healthLookMs);
  try {
    const result = await run();
    // A run that must be repeated alone may have made no request.
    if (result.outcome !== 'listing') await breaker?.noteAnswer();
    return result;
  } catch (error) {
    if (!signal.aborted) await noteFailure(breaker, error);
    throw error;
  }
}

/** Our own failures, such as the cache's, say nothing of the registry. Reasons are public: they contain no host. */
async function noteFailure(breaker: AccountBreaker | undefined, error: unknown): Promise<void> {
  if (listCauses(error).some((cause) => cause instanceof UnreachableError)) {
    await breaker?.noteDeath('the registry cannot be reached: GET /cache/introspection tells why');
  } else if (error instanceof FailedOperationError || error instanceof AccessDeniedError) {
    await breaker?.noteRefusal('the last run of its agent failed: GET /cache/introspection tells why');
  }
}

function listCauses(error: unknown): readonly unknown[] {
  const causes: unknown[] = [];
  for (let cause = error; cause instanceof Error && causes.length < causesMax; cause = cause.cause) {
    causes.push(cause);
  }
  return causes;
}
