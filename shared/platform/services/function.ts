import { getProcessServices } from './process-services.ts';
import type { Services } from './services.ts';

/** A Lambda function, which uses the services of its process unless others are given. */
export type ServiceFunction<F> = F & {
  /** The same function for another installation. */
  withServices(services: Services): F;
};

/** A function that Lambda calls, whatever its arguments. */
type Callable<A extends readonly unknown[], R> = (...args: A) => R;

/** Makes a Lambda function. Nothing is opened before it is called. @param make makes it for an installation; called once for each */
export function makeFunction<A extends readonly unknown[], R>(
  make: (services: Services) => Callable<A, R>,
): ServiceFunction<Callable<A, R>> {
  let own: Callable<A, R> | undefined;
  const call = (...args: A): R => {
    own ??= make(getProcessServices());
    return own(...args);
  };
  return Object.assign(call, { withServices: make });
}
