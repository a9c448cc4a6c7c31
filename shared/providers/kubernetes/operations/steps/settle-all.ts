/**
 * Runs an action on all items concurrently. If some fail, it waits for the others, so that nothing continues unnoticed, and then throws the
 * first failure.
 */
export async function settleAll<T>(items: readonly T[], act: (item: T) => Promise<unknown>): Promise<void> {
  const outcomes = await Promise.allSettled(items.map(act));
  const failure = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failure !== undefined) throw failure.reason;
}
