/**
 * Waits for something that several callers share: it goes on for the others when this caller gives up.
 *
 * @throws the signal's reason once it is aborted.
 */
export async function untilAborted<T>(shared: T | Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined || !(shared instanceof Promise)) return shared;
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort);
  try {
    return await Promise.race([promise, shared]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
