/**
 * Does something to all items side by side. When it fails for some the others are waited for, so that nothing goes on
 * unseen; then the first failure is thrown.
 */
export async function settleAll<T>(items: readonly T[], act: (item: T) => Promise<unknown>): Promise<void> {
  const outcomes = await Promise.allSettled(items.map(act));
  const failure = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failure !== undefined) throw failure.reason;
}
