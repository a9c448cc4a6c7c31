import type { RowPlace } from '#caching/store/cache-store.ts';
import { hashText } from '#caching/store/hash-text.ts';
import { getObjectName, type NamedObject } from '#caching/store/object-names.ts';
import type { CachingRules } from '../account/account.ts';
import type { KindRegistry } from '../kinds/index.ts';
import type { SpinnakerKind } from '../kinds/kind.ts';
import { isApplicationKind } from './cached-objects.ts';
import type { ObjectFacts } from './facts.ts';
import { getEntryKey, selfKey } from './row-entries.ts';

/** A view of an application's rows: each row is of one object. */
export type ApplicationView = 'serverGroups' | 'managers' | 'loadBalancers' | 'securityGroups' | 'resources';

/** A view with rows in the cache: an application's, or a namespace's, which is joined to the former. */
export type RowView = ApplicationView | 'pods' | 'services';

/** The view whose rows contain objects, by Spinnaker's class of their kind. */
export const rowViews: { readonly [spinnakerKind in SpinnakerKind]: ApplicationView } = {
  serverGroups: 'serverGroups',
  serverGroupManagers: 'managers',
  loadBalancers: 'loadBalancers',
  securityGroups: 'securityGroups',
  instances: 'resources',
  configs: 'resources',
  unclassified: 'resources',
};

/** Number of rows that the services of a namespace share, by the hash of their names: never change it. */
const serviceRows = 16;

/** An entry's row and key. */
export interface EntryPlace {
  readonly place: RowPlace;
  readonly view: RowView;
  readonly row: string;
  readonly key: string;
}

/** The parts of an account that decide where its objects are stored. */
export interface RowAccount {
  readonly name: string;
  readonly kindRegistry: Pick<KindRegistry, 'find'>;
}

/** The name of an object's row: `replicaSet shop cart-v003`. The pods of a server group have a row of the same name. */
export function getRowName(facts: NamedFacts): string {
  return getObjectName(toNamedObject(facts));
}

/** What identifies an object of the account. */
export function toNamedObject({ kind, namespace, name }: NamedFacts): NamedObject {
  return { kind, location: namespace, name };
}

type NamedFacts = Pick<ObjectFacts, 'kind' | 'namespace' | 'name'>;

/** The application whose rows contain an object; undefined if there is none. */
export function findRowApplication(
  { spinnakerKind, moniker }: Pick<ObjectFacts, 'spinnakerKind' | 'moniker'>,
  rules: Pick<CachingRules, 'allApplicationRelationships'>,
): string | undefined {
  const isShown = rules.allApplicationRelationships || isApplicationKind(spinnakerKind);
  return (isShown && moniker.app) || undefined;
}

/**
 * An object's entries: in its row of its application, and in rows of its namespace. A pod has one of the latter in the row of the server
 * group that it names as its owner, cached or not, and a service has one in a shared row.
 *
 * @param application undefined for an object without one
 */
export function listEntryPlaces(
  account: RowAccount,
  facts: ObjectFacts,
  application: string | undefined,
): EntryPlace[] {
  const { spinnakerKind, kind, namespace } = facts;
  const own = { account: account.name, location: namespace };
  const places: EntryPlace[] = [];
  if (application !== undefined) {
    const place = { account: account.name, application };
    places.push({ place, view: rowViews[spinnakerKind], row: getRowName(facts), key: selfKey });
  }
  const key = getEntryKey(facts);
  const owner = findOwner(account, facts);
  if (owner !== undefined) places.push({ place: own, view: 'pods', row: getRowName(owner), key });
  if (kind === 'service') {
    const number = hashText(facts.name) % serviceRows;
    places.push({ place: own, view: 'services', row: `services ${namespace} ${number}`, key });
  }
  return places;
}

/** The server group that a pod's owner references name, the first of several. */
function findOwner(
  { kindRegistry }: RowAccount,
  { spinnakerKind, namespace, owners }: ObjectFacts,
): Pick<ObjectFacts, 'kind' | 'namespace' | 'name'> | undefined {
  if (spinnakerKind !== 'instances') return undefined;
  const owner = owners.find(({ kind }) => kindRegistry.find(kind).spinnakerKind === 'serverGroups');
  return owner && { kind: owner.kind, namespace, name: owner.name };
}
