import type { CachingRules } from '../account/account.ts';
import type { Manifest } from '../api/manifest.ts';
import type { KindRegistry } from '../kinds/index.ts';
import type { SpinnakerKind } from '../kinds/kind.ts';
import { toKindKey } from '../kinds/name.ts';
import { annotationKeys, hasAnnotation, readFlagAnnotation } from '../manifest/annotations.ts';
import { readKind, readMoniker } from '../manifest/identity.ts';

/** The rules for which objects of an account are kept. */
export interface CachedObjectRules {
  readonly registry: KindRegistry;
  /** The result of `listCachedKinds`. */
  readonly kinds: readonly string[];
  /** The account's rules. */
  readonly rules: Pick<CachingRules, 'onlySpinnakerManaged'>;
  /** Whether Front50 has an application of that name, in any case. Given only if `kubernetes.cache.checkApplicationInFront50` is set. */
  readonly isKnownApplication?: ((application: string) => boolean) | undefined;
}

/** Classes of kinds that belong to an application in their own right. */
const applicationKinds: readonly SpinnakerKind[] = [
  'serverGroupManagers',
  'serverGroups',
  'loadBalancers',
  'securityGroups',
];

/**
 * Creates the test of whether an object is kept. It is not, if
 * - its kind is not cached;
 * - its annotation `caching.spinnaker.io/ignore` says so;
 * - only Spinnaker's deployments are cached, and it has no annotation with its application;
 * - Front50 decides, and does not know the application of a server group, manager, load balancer or security group.
 */
export function createCacheFilter(input: CachedObjectRules): (manifest: Manifest) => boolean {
  const kinds = new Set(input.kinds.map(toKindKey));
  const { registry, rules, isKnownApplication } = input;
  return (manifest) => {
    const kind = readKind(manifest);
    if (!kinds.has(toKindKey(kind))) return false;
    if (readFlagAnnotation(manifest, annotationKeys.ignoreCaching)) return false;
    if (rules.onlySpinnakerManaged && !hasAnnotation(manifest, annotationKeys.application)) return false;
    const isAsked = isKnownApplication !== undefined && isApplicationKind(registry.find(kind).spinnakerKind);
    return !isAsked || isKnownApplication(readMoniker(manifest).app ?? '');
  };
}

/** Whether objects of a class make up clusters. */
export function isInCluster(spinnakerKind: SpinnakerKind): boolean {
  return spinnakerKind === 'serverGroups' || spinnakerKind === 'serverGroupManagers';
}

/** Whether objects of such a class are listed with their application; others are only if the account says so. */
export function isApplicationKind(spinnakerKind: SpinnakerKind): boolean {
  return applicationKinds.includes(spinnakerKind);
}
