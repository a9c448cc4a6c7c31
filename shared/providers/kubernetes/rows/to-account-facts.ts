import { isV1Account, type KubernetesAccount } from '../account/account.ts';
import type { Manifest } from '../api/manifest.ts';
import { type CachedObjectRules, createCacheFilter } from './cached-objects.ts';
import type { ObjectFacts } from './facts.ts';
import { toFacts } from './to-facts.ts';
import { toV1Facts } from './to-v1-facts.ts';

/** The facts of an account's live object, in the form of its provider's version. */
export function toAccountFacts(manifest: Manifest, account: KubernetesAccount): ObjectFacts {
  const read = isV1Account(account) ? toV1Facts : toFacts;
  return read(manifest, account.kindRegistry);
}

/** Creates the test of whether an account's object is kept. A V1 account keeps all: annotations mean nothing there. */
export function createAccountFilter(
  account: KubernetesAccount,
  which: Pick<CachedObjectRules, 'kinds' | 'isKnownApplication'>,
): (manifest: Manifest, facts: ObjectFacts) => boolean {
  if (isV1Account(account)) return (_, { kind }) => which.kinds.includes(kind);
  return createCacheFilter({ ...which, registry: account.kindRegistry, rules: account.caching });
}
