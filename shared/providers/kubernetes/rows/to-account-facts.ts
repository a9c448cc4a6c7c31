import { isV1Account, type KubernetesAccount } from '../account/account.ts';
import type { Manifest } from '../api/manifest.ts';
import { createCacheFilter } from './cached-objects.ts';
import type { ObjectFacts } from './facts.ts';
import { toFacts } from './to-facts.ts';
import { toV1Facts } from './to-v1-facts.ts';

/** What the cache keeps of a live object of an account, in the form of its provider's version. */
export function toAccountFacts(manifest: Manifest, account: KubernetesAccount): ObjectFacts {
  const read = isV1Account(account) ? toV1Facts : toFacts;
  return read(manifest, account.kindRegistry);
}

/** Which objects of an account are kept. */
export interface AccountFilterOptions {
  /** Spinnaker's names of the kinds that are. */
  readonly kinds: readonly string[];
  /** See `CachedObjectRules`. */
  readonly isKnownApplication?: ((application: string) => boolean) | undefined;
}

/** Makes the test whether an object of an account is kept. Of a V1 account each is: annotations tell nothing there. */
export function createAccountFilter(
  account: KubernetesAccount,
  { kinds, isKnownApplication }: AccountFilterOptions,
): (manifest: Manifest, facts: ObjectFacts) => boolean {
  if (isV1Account(account)) return (_, { kind }) => kinds.includes(kind);
  return createCacheFilter({
    registry: account.kindRegistry,
    kinds,
    rules: account.caching,
    ...(isKnownApplication && { isKnownApplication }),
  });
}
