import { FailedOperationError, VisibleError } from '#core/errors.ts';
import { formatFullName } from '../../kinds/name.ts';
import type { Coordinates } from '../../manifest/identity.ts';

/**
 * Runs an action on an object, and names it in every error.
 *
 * @param what such as `Scaling deployment web in namespace shop`.
 * @throws FailedOperationError with `what` and the API server's own words.
 */
export async function explainFailure<T>(what: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof VisibleError)) throw error;
    throw new FailedOperationError(`${what} failed: ${error.message}`, { cause: error });
  }
}

/** `deployment web in namespace shop`; without the namespace if there is none. */
export function describeObject({ kind, namespace, name }: Coordinates): string {
  const fullName = formatFullName(kind, name);
  return namespace === '' ? fullName : `${fullName} in namespace ${namespace}`;
}

/** All the results, once nothing is in progress any more. Of several failures the first in order is thrown, not the first in time. */
export async function awaitInOrder<T>(promises: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}
