import type { LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';

/** The most addresses of one host that are checked and tried. A name may have thousands. */
export const hostAddressesMax = 32;

/** Returns every address of a host name. */
export type ResolveHost = (hostname: string) => Promise<readonly LookupAddress[]>;

/**
 * Resolves names for connections, and refuses those with a forbidden address. The checked addresses are the ones that are connected to.
 *
 * @param assertAllowed throws if a host may not have these addresses.
 */
export function createGuardedLookup(
  resolve: ResolveHost,
  assertAllowed: (hostname: string, addresses: readonly string[]) => void,
): LookupFunction {
  async function resolveAllowed(hostname: string): Promise<LookupAddress[]> {
    const found = (await resolve(hostname)).slice(0, hostAddressesMax);
    assertAllowed(
      hostname,
      found.map(({ address }) => address),
    );
    return found;
  }
  return (hostname, { all }, callback) => {
    resolveAllowed(hostname).then(
      (found) =>
        all === true ? callback(null, found) : callback(null, found[0]?.address ?? '', found[0]?.family),
      (error: Error) => callback(error, []),
    );
  };
}
