import type { AccountBreaker } from '#accounts/model/account-breaker.ts';
import type { CachingResult } from '#caching/scheduling/caching-agent.ts';
import { AccessDeniedError, FailedOperationError, UnreachableError } from '#core/errors.ts';

/** What other processes found out of an account is looked at no more often than this, in milliseconds. */
export const healthLookMs = 60_000;

/** Most errors that one is the cause of the next. */
const causesMax = 10;

/** What a run is judged by. */
export interface JudgedRun {
  /** What tells how the account is. Undefined where nobody wants to know. */
  readonly breaker: AccountBreaker | undefined;
  /** Of the run. One that was ended says nothing of the account. */
  readonly signal: AbortSignal;
}

/**
 * Runs an agent, and tells how its account is by what becomes of that: its registry answered, could not be reached, or answered something
 * else than was asked for. Nobody waits for a registry that cannot be reached: the next run asks it again.
 *
 * @throws what the run throws.
 */
export async function judgeRun(
  { breaker, signal }: JudgedRun,
  run: () => Promise<CachingResult>,
): Promise<CachingResult> {
  // What another process told since is else taken for what this one told.
  await breaker?.learn(healthLookMs);
  try {
    const result = await run();
    // One that is to be run alone may have asked for nothing.
    if (result.outcome !== 'listing') await breaker?.noteAnswer();
    return result;
  } catch (error) {
    if (!signal.aborted) await noteFailure(breaker, error);
    throw error;
  }
}

/** Failures of ours, such as of the cache, say nothing of the registry. Reasons are everybody's: they hold no host. */
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
