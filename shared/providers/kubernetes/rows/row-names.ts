import type { Version } from '../../../core/cache/version.ts';
import type { CachingRules } from '../account/account.ts';
import type { SpinnakerKind } from '../kinds/kind.ts';
import { isApplicationKind } from './cached-objects.ts';
import type { ObjectFacts } from './facts.ts';

/** A view whose rows the cache has. */
export type RowView = 'serverGroups' | 'managers' | 'loadBalancers' | 'securityGroups' | 'resources';

/** In which view's rows objects stand, by Spinnaker's class of their kind. */
export const rowViews: { readonly [spinnakerKind in SpinnakerKind]: RowView } = {
  serverGroups: 'serverGroups',
  serverGroupManagers: 'managers',
  loadBalancers: 'loadBalancers',
  securityGroups: 'securityGroups',
  instances: 'resources',
  configs: 'resources',
  unclassified: 'resources',
};

/**
 * Stands for an application in whose rows pods wait whose owner is not cached, or in no application: under the row that the
 * owner would have. The directory never lists it, so nobody but the writer comes across it.
 */
export const waitingApplication = '~';

/** The name of an object's row: `replicaSet shop cart-v003`. */
export function getRowName({
  kind,
  namespace,
  name,
}: Pick<ObjectFacts, 'kind' | 'namespace' | 'name'>): string {
  return `${kind} ${namespace} ${name}`;
}

/** The application in whose rows an object stands; undefined for what stands in none. */
export function findRowApplication(
  { spinnakerKind, moniker }: Pick<ObjectFacts, 'spinnakerKind' | 'moniker'>,
  rules: Pick<CachingRules, 'allApplicationRelationships'>,
): string | undefined {
  const isShown = rules.allApplicationRelationships || isApplicationKind(spinnakerKind);
  return (isShown && moniker.app) || undefined;
}

/**
 * The version of a pod's entry that stands where it is because its owner came there: after the pod's own version, and before the
 * pod's next one. So a pod may leave a row and come back without having changed itself.
 *
 * @param since the version of the owner that came, or went.
 */
export function toMovedVersion(version: Version, since: Version): Version {
  return `${version}~${since}` as Version;
}

/** Stands for the end of a server group of which only an earlier version is known: after that, and before the next one. */
export function toEndVersion(version: Version): Version {
  return `${version}~` as Version;
}

/** The version of a pod's end: after everything that moved it. */
export function toLastVersion(version: Version): Version {
  return `${version}~~` as Version;
}
