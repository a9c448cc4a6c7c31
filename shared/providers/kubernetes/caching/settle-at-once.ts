/**
 * Works on all items, so many at a time.
 *
 * @returns what came of each, in their order.
 * @throws what the first of those that failed threw, once all have ended.
 */
export async function settleAtOnce<T, R>(
  most: number,
  items: readonly T[],
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const failures = new Map<number, unknown>();
  const left = items.entries();
  const workOn = async (): Promise<void> => {
    for (const [index, item] of left) {
      try {
        results[index] = await work(item);
      } catch (error) {
        failures.set(index, error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, workOn));
  if (failures.size > 0) throw failures.get(Math.min(...failures.keys()));
  return results;
}
