import type { CachingRules } from '../account/account.ts';
import type { CacheSettings } from '../account/account-settings.ts';
import type { KindRegistry } from '../kinds/index.ts';
import type { SpinnakerKind } from '../kinds/kind.ts';
import { isSameKind, toKindKey } from '../kinds/name.ts';

/** What Deck shows, and therefore what is cached unless the configuration says otherwise. */
const shownKinds: readonly SpinnakerKind[] = [
  'serverGroupManagers',
  'serverGroups',
  'instances',
  'loadBalancers',
  'securityGroups',
];

/** What decides which kinds of an account are cached. */
export interface CachedKindsInput {
  readonly registry: KindRegistry;
  /** The kinds of the cluster's custom resource definitions, as in `CronTab.stable.example.com`. */
  readonly definedKinds: readonly string[];
  /** Of the account. */
  readonly rules: Pick<CachingRules, 'kinds' | 'omitKinds'>;
  /** Of all accounts. */
  readonly settings: Pick<CacheSettings, 'cacheAll' | 'cacheKinds' | 'cacheOmitKinds'>;
}

/**
 * Spinnaker's names of the kinds that an account caches. The settings of all accounts choose first: every kind (`cacheAll`), those
 * named (`cacheKinds`), or those that Deck shows, in each case without `cacheOmitKinds`. Of these the account keeps its `kinds`, or
 * all but its `omitKinds`. Whether the cluster serves a kind, and lets it be listed, is not asked here.
 *
 * A custom resource that the account counts among what Deck shows is cached like a built-in kind. In Clouddriver that
 * part of its configuration has no effect.
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

/** Whether an account's `kinds` and `omitKinds` let a kind be cached and listed. */
export function isKindAllowed(
  { kinds, omitKinds }: Pick<CachingRules, 'kinds' | 'omitKinds'>,
  kind: string,
): boolean {
  return kinds.length > 0 ? includesKind(kinds, kind) : !includesKind(omitKinds, kind);
}

function includesKind(kinds: readonly string[], kind: string): boolean {
  return kinds.some((each) => isSameKind(each, kind));
}
