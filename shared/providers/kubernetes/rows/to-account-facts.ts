import { isV1Account, type KubernetesAccount } from '../account/account.ts';
import type { Manifest } from '../api/manifest.ts';
import { createCacheFilter } from './cached-objects.ts';
import type { ObjectFacts } from './facts.ts';
import { toFacts } from './to-facts.ts';
import { toV1Facts } from './to-v1-facts.ts';

/** The facts of an account's live object, in the form of its provider's version. */
export function toAccountFacts(manifest: Manifest, account: KubernetesAccount): ObjectFacts {
  const read = isV1Account(account) ? toV1Facts : toFacts;
  return read(manifest, account.kindRegistry);
}

/** Which objects of an account are kept. */
export interface AccountFilterOptions {
  /** Spinnaker's names of the kinds to keep. */
  readonly kinds: readonly string[];
  /** See `CachedObjectRules`. */
  readonly isKnownApplication?: ((application: string) => boolean) | undefined;
}

/** Creates the test of whether an account's object is kept. A V1 account keeps all: annotations mean nothing there. */
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
