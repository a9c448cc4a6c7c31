import type { CachingRules } from '../account/account.ts';
import type { CacheSettings } from '../account/account-settings.ts';
import type { KindRegistry } from '../kinds/index.ts';
import type { SpinnakerKind } from '../kinds/kind.ts';
import { isSameKind, toKindKey } from '../kinds/name.ts';

/** The classes that Deck shows, and therefore those cached unless the configuration says otherwise. */
const shownKinds: readonly SpinnakerKind[] = [
  'serverGroupManagers',
  'serverGroups',
  'instances',
  'loadBalancers',
  'securityGroups',
];

/** The input for which kinds of an account are cached. */
export interface CachedKindsInput {
  readonly registry: KindRegistry;
  /** The kinds of the cluster's custom resource definitions, as in `CronTab.stable.example.com`. */
  readonly definedKinds: readonly string[];
  /** The account's rules. */
  readonly rules: Pick<CachingRules, 'kinds' | 'omitKinds'>;
  /** The settings of all accounts. */
  readonly settings: Pick<CacheSettings, 'cacheAll' | 'cacheKinds' | 'cacheOmitKinds'>;
}

/**
 * Spinnaker's names of the kinds that an account caches. The settings of all accounts choose first: every kind (`cacheAll`), the named ones
 * (`cacheKinds`), or those that Deck shows, in each case without `cacheOmitKinds`. Of these the account keeps its `kinds`, or all but its
 * `omitKinds`. Does not check whether the cluster serves a kind and lets it be listed.
 *
 * A custom resource that the account assigns to a class that Deck shows is cached like a built-in kind. In Clouddriver that part of its
 * configuration has no effect.
 */
export function listCachedKinds({ registry, definedKinds, rules, settings }: CachedKindsInput): string[] {
  const described = registry.kinds.map(({ name }) => name);
  const kinds = new Map([...described, ...definedKinds].map((kind) => [toKindKey(kind), kind]));
  const isChosen = (kind: string): boolean => {
    if (includesKind(settings.cacheOmitKinds, kind)) return false;
    if (settings.cacheAll) return true;
    if (settings.cacheKinds !== undefined) return includesKind(settings.cacheKinds, kind);
    return shownKinds.includes(registry.find(kind).spinnakerKind);
  };
  return [...kinds.values()].filter((kind) => isChosen(kind) && isKindAllowed(rules, kind));
}

/** Whether an account's `kinds` and `omitKinds` allow a kind to be cached and listed. */
export function isKindAllowed(
  { kinds, omitKinds }: Pick<CachingRules, 'kinds' | 'omitKinds'>,
  kind: string,
): boolean {
  return kinds.length > 0 ? includesKind(kinds, kind) : !includesKind(omitKinds, kind);
}

function includesKind(kinds: readonly string[], kind: string): boolean {
  return kinds.some((each) => isSameKind(each, kind));
}
