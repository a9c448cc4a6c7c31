import type { StoredObject } from '../../../core/cache/cache-store.ts';
import type { ObjectFacts, ServerGroupFacts } from '../rows/facts.ts';
import { type CacheReading, listKindsOf, listObjects, readAllFacts } from './cache-reading.ts';
import { loadServerGroupsOf } from './server-group-rows.ts';

/** Where server groups are looked for. */
export interface Neighbourhood {
  readonly account: string;
  readonly namespaces: readonly string[];
  /** The application whose server groups are known already; undefined where none are. */
  readonly application?: string | undefined;
}

/**
 * Server groups of other applications that one of these managers owns, without their pods. What is read is each server group of
 * the managers' namespaces, once; those of the application itself are not decoded.
 */
export async function loadOwnedNeighbours(
  reading: CacheReading,
  { account, application }: Pick<Neighbourhood, 'account' | 'application'>,
  managers: readonly ObjectFacts[],
): Promise<ServerGroupFacts[]> {
  const owners = new Set(managers.map(({ uid }) => uid));
  const namespaces = listNamespacesOf(managers);
  const objects = await listServerGroupObjects(reading, { account, namespaces, application });
  return readAllFacts(objects)
    .filter((facts) => facts.owners.some(({ uid }) => owners.has(uid)))
    .map((facts) => ({ facts, instances: [] }));
}

/**
 * Server groups of other applications that one of these services may select, with their pods. What is read is each server group
 * of the services' namespaces, once, and the rows of those found. A service may select a label that only pods have, so what counts
 * is that the pod template says nothing else. Pods that somebody labelled against their template are not found.
 */
export async function loadSelectedNeighbours(
  reading: CacheReading,
  { account, application }: Pick<Neighbourhood, 'account' | 'application'>,
  services: readonly ObjectFacts[],
): Promise<ServerGroupFacts[]> {
  const namespaces = listNamespacesOf(services);
  const objects = await listServerGroupObjects(reading, { account, namespaces, application });
  const local = Map.groupBy(services, ({ namespace }) => namespace);
  const selected = objects.filter((object) => {
    const [facts] = readAllFacts([object]);
    return local.get(object.key.namespace)?.some((service) => facts && mayBeBehind(facts, service));
  });
  const found = await loadServerGroupsOf(reading, selected);
  return found.map(({ serverGroup }) => serverGroup);
}

async function listServerGroupObjects(
  reading: CacheReading,
  { account, namespaces, application }: Neighbourhood,
): Promise<StoredObject[]> {
  const configured = reading.session.findAccount(account);
  if (configured === undefined || namespaces.length === 0) return [];
  const kinds = await listKindsOf(reading, configured, 'serverGroups');
  const lists = await Promise.all(
    kinds.flatMap((kind) =>
      namespaces.map((namespace) => listObjects(reading, { account, kind, namespace })),
    ),
  );
  return lists.flat().filter((object) => application === undefined || object.application !== application);
}

function mayBeBehind({ workload }: ObjectFacts, { name, service }: ObjectFacts): boolean {
  if (workload === undefined) return false;
  if (workload.serviceName === name) return true;
  const selector = Object.entries(service?.selector ?? {});
  const { podLabels } = workload;
  const fits = ([key, value]: [string, string]) => !Object.hasOwn(podLabels, key) || podLabels[key] === value;
  return selector.length > 0 && selector.every(fits);
}

function listNamespacesOf(objects: readonly ObjectFacts[]): string[] {
  return [...new Set(objects.map(({ namespace }) => namespace))];
}
