import type { KubernetesAccount } from '../account/account.ts';
import type { CacheSettings } from '../account/account-settings.ts';
import { listCachedKinds } from '../rows/cached-kinds.ts';

/** Which kinds a caching agent keeps: Kubernetes' own, which Spinnaker names without their groups, or custom ones. */
export type KindFamily = 'built-in' | 'custom';

/**
 * Whether the settings can choose any custom kind: all kinds, some by name, or those that an account's `customResources` adds to what Deck
 * shows.
 */
export function canHaveCustomKinds(
  { kindRegistry: registry, caching: rules }: KubernetesAccount,
  settings: CacheSettings,
): boolean {
  if (settings.cacheAll) return rules.kinds.length === 0 || rules.kinds.some(isCustomKind);
  const named = settings.cacheKinds?.filter(isCustomKind) ?? [];
  return listCachedKinds({ registry, definedKinds: named, rules, settings }).some(isCustomKind);
}

/** Whether a kind is of no group of Kubernetes' own: `CronTab.stable.example.com`. */
export function isCustomKind(kind: string): boolean {
  return kind.includes('.');
}
