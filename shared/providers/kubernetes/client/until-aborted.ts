/**
 * Waits for something that several callers share: it goes on for the others when this caller gives up.
 *
 * @throws the signal's reason once it is aborted.
 */
export async function untilAborted<T>(shared: T | Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined || !(shared instanceof Promise)) return shared;
  signal.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  signal.addEventListener('abort', onAbort);
  try {
    return await Promise.race([shared, promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
