/** The first result of `make`, for all callers; a failure is the next caller's to try again. */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    const making = made ?? make();
    if (made === undefined) {
      made = making;
      making.catch(() => {
        made = undefined;
      });
    }
    return making;
  };
}
