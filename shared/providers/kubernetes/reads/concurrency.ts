/** Runs something when its turn comes, and answers what it answers. */
export type Limit = <T>(act: () => Promise<T>) => Promise<T>;

/** Lets at most so many calls run at a time; others wait, in order. What is run must not wait for another turn itself. */
export function createLimit(most: number): Limit {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (act) => {
    if (running < most) running += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await act();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
