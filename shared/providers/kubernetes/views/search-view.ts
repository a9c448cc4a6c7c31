import type { FindView } from '#contract/answers/search.ts';
import { compareText } from '#core/text-order.ts';
import type { ViewSearchRequest } from '#views/views.ts';
import type { SpinnakerKind } from '../kinds/kind.ts';
import { formatFullName, toKindKey } from '../kinds/name.ts';
import { cloudProvider } from './resource-view.ts';

/** An object that can be found. */
export interface SearchObject {
  readonly account: string;
  readonly kind: string;
  readonly spinnakerKind: SpinnakerKind;
  readonly namespace: string;
  readonly name: string;
  /** The application it belongs to, and its cluster there. */
  readonly application?: string | undefined;
  readonly cluster?: string | undefined;
  /** Whether it is shown under its bare name, like objects of V1 accounts. Default: under its full name. */
  readonly isBare?: boolean;
}

/** An application in an account, or one of its clusters there. */
export interface SearchPlace {
  readonly account: string;
  readonly application: string;
  readonly cluster?: string;
}

/** One result. The last five members depend on its type. */
export interface SearchResultView extends FindView {
  readonly provider: typeof cloudProvider;
  /** The kind; without one `applications` or `clusters`. */
  readonly group: string;
  /** Spinnaker's class of the kind; without a kind the group again. */
  readonly type: string;
  /** Full name; for an application or cluster its name. */
  readonly name: string;
  readonly kubernetesKind?: string;
  readonly logicalKind?: 'APPLICATIONS' | 'CLUSTERS';
  readonly account?: string;
  readonly namespace?: string;
  /** The namespace again. */
  readonly region?: string;
  readonly application?: string | undefined;
  readonly cluster?: string | undefined;
  /** The name again, for a ReplicaSet, StatefulSet or DaemonSet. */
  readonly serverGroup?: string;
  /** The name again, for a service or ingress. */
  readonly loadBalancer?: string;
  /** The name again, for a pod. */
  readonly instanceId?: string;
  /** The name again, for a network policy. */
  readonly id?: string;
}

/** The member that repeats the name in a result of a kind. */
const nameMembers: ReadonlyMap<string, 'serverGroup' | 'loadBalancer' | 'instanceId' | 'id'> = new Map([
  ['ReplicationController', 'serverGroup'],
  ['replicaSet', 'serverGroup'],
  ['statefulSet', 'serverGroup'],
  ['daemonSet', 'serverGroup'],
  ['service', 'loadBalancer'],
  ['ingress', 'loadBalancer'],
  ['pod', 'instanceId'],
  ['networkPolicy', 'id'],
]);

/**
 * Searches the cache. An object is found if its kind, account, namespace or name contains the query, or if its application or cluster does.
 * Applications and clusters come from the objects and places; an application is also found by its clusters. Each is found once. The order
 * is that of {@link compareResults}, so that pages fit together.
 */
export function searchObjects(
  objects: Iterable<SearchObject | SearchPlace>,
  request: ViewSearchRequest,
): SearchResultView[] {
  const wanted = request.query.toLowerCase();
  const contains = (text: string): boolean => text.toLowerCase().includes(wanted);
  const types = new Set(request.types.map(toKindKey));
  const found = new Map<string, SearchResultView>();
  const add = (view: SearchResultView): void => {
    const key = JSON.stringify([view.group, view.account, view.namespace, view.application, view.name]);
    found.set(key, view);
  };
  for (const object of objects) {
    if ('kind' in object && containsObject(object, contains) && isWanted(object, types))
      add(toObjectResult(object));
    for (const { texts, view } of listPlaces(object, types)) if (texts.some(contains)) add(view);
  }
  return [...found.values()].sort(compareResults);
}

/** Creates the test of whether objects of a kind are among the requested types. */
export function createKindFilter(
  types: readonly string[],
): (kind: Pick<SearchObject, 'kind' | 'spinnakerKind'>) => boolean {
  const wanted = new Set(types.map(toKindKey));
  return (kind) => isWanted(kind, wanted);
}

/** The order of results: by type, name, account and namespace. */
export function compareResults(one: SearchResultView, other: SearchResultView): number {
  return (
    compareText(one.type, other.type) ||
    compareText(one.name, other.name) ||
    compareText(one.account ?? '', other.account ?? '') ||
    compareText(one.namespace ?? '', other.namespace ?? '')
  );
}

/** Whether one of the texts of an object is as wanted. */
function containsObject(
  { kind, account, namespace, name, application = '', cluster = '' }: SearchObject,
  contains: (text: string) => boolean,
): boolean {
  return (
    contains(`${kind}:${account}:${namespace}:${name}`) ||
    contains(formatFullName(kind, name)) ||
    contains(application) ||
    contains(cluster)
  );
}

/** A possible result, and the texts of which one must contain the query. */
interface Place {
  readonly texts: readonly string[];
  readonly view: SearchResultView;
}

/** An object's application and its cluster, as far as their types are requested. */
function listPlaces(
  { account, application, cluster }: SearchPlace | SearchObject,
  types: ReadonlySet<string>,
): Place[] {
  if (application === undefined) return [];
  const places: Place[] = [];
  if (types.has('applications')) {
    const view = toPlaceResult('applications', { name: application, application });
    places.push({ texts: [application, cluster ?? ''], view });
  }
  if (cluster !== undefined && types.has('clusters')) {
    const view = toPlaceResult('clusters', { name: cluster, account, application, cluster });
    places.push({ texts: [[account, application, cluster].join(':')], view });
  }
  return places;
}

function isWanted(
  { kind, spinnakerKind }: Pick<SearchObject, 'kind' | 'spinnakerKind'>,
  types: ReadonlySet<string>,
): boolean {
  return types.has(spinnakerKind.toLowerCase()) || types.has(toKindKey(kind));
}

function toObjectResult(object: SearchObject): SearchResultView {
  const { account, kind, spinnakerKind, namespace, application, cluster, isBare } = object;
  const name = isBare ? object.name : formatFullName(kind, object.name);
  const member = nameMembers.get(kind);
  return {
    provider: cloudProvider,
    group: kind,
    type: spinnakerKind,
    kubernetesKind: kind,
    account,
    namespace,
    region: namespace,
    name,
    application,
    cluster,
    ...(member && { [member]: name }),
  };
}

/** The result for an application or a cluster. */
function toPlaceResult(
  type: 'applications' | 'clusters',
  place: Pick<SearchResultView, 'name' | 'account' | 'application' | 'cluster'>,
): SearchResultView {
  const logicalKind = type === 'applications' ? 'APPLICATIONS' : 'CLUSTERS';
  return { provider: cloudProvider, group: type, type, logicalKind, ...place };
}
