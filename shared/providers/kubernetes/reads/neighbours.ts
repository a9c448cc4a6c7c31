import type { StoredObject } from '#caching/store/cache-store.ts';
import type { ObjectFacts, ServerGroupFacts } from '../rows/facts.ts';
import { type CacheReading, listObjects, readAllFacts } from './cache-reading.ts';
import { loadServerGroupsOf } from './namespace-rows.ts';

/** Where server groups are searched for. */
export interface Neighbourhood {
  readonly account: string;
  /** The kinds of server groups that the account has: see {@link listServerGroupKinds}. */
  readonly kinds: readonly string[];
  /** The application whose server groups are already known; undefined if none are. */
  readonly application?: string | undefined;
}

/** The kinds of server groups that an account has in the cache. */
export async function listServerGroupKinds(
  { session, cache, limit }: CacheReading,
  account: string,
): Promise<string[]> {
  const registry = session.findAccount(account)?.kindRegistry;
  if (registry === undefined) return [];
  const kinds = await limit(() => cache.listKinds(account));
  return kinds.filter((kind) => registry.find(kind).spinnakerKind === 'serverGroups');
}

/**
 * Server groups of other applications that one of these managers owns, without their pods. Reads each server group of the managers'
 * namespaces once; those of the application itself are not sent.
 */
export async function loadOwnedNeighbours(
  reading: CacheReading,
  where: Neighbourhood,
  managers: readonly ObjectFacts[],
): Promise<ServerGroupFacts[]> {
  const owners = new Set(managers.map(({ uid }) => uid));
  const objects = await listServerGroupObjects(reading, where, managers);
  return readAllFacts(objects)
    .filter((facts) => facts.owners.some(({ uid }) => owners.has(uid)))
    .map((facts) => ({ facts, instances: [] }));
}

/**
 * Server groups of other applications that one of these services may select, with their pods. Reads each server group of the services'
 * namespaces once, and the rows of those found. A service may select a label that only pods have, so the pod template merely must not
 * contradict it. Pods labelled contrary to their template are not found.
 */
export async function loadSelectedNeighbours(
  reading: CacheReading,
  where: Neighbourhood,
  services: readonly ObjectFacts[],
): Promise<ServerGroupFacts[]> {
  const objects = await listServerGroupObjects(reading, where, services);
  const local = Map.groupBy(services, ({ namespace }) => namespace);
  const selected = objects.filter((object) => {
    const [facts] = readAllFacts([object]);
    return local.get(object.key.location)?.some((service) => facts && mayBeBehind(facts, service));
  });
  const found = await loadServerGroupsOf(reading, selected);
  return found.map(({ serverGroup }) => serverGroup);
}

/** The server groups in the namespaces of these objects. */
async function listServerGroupObjects(
  reading: CacheReading,
  { account, kinds, application }: Neighbourhood,
  objects: readonly ObjectFacts[],
): Promise<StoredObject[]> {
  const namespaces = [...new Set(objects.map(({ namespace }) => namespace))];
  const lists = await Promise.all(
    kinds.flatMap((kind) =>
      namespaces.map((namespace) => listObjects(reading, { account, kind, namespace, outside: application })),
    ),
  );
  return lists.flat();
}

function mayBeBehind({ workload }: ObjectFacts, { name, service }: ObjectFacts): boolean {
  if (workload === undefined) return false;
  if (workload.serviceName === name) return true;
  const selector = Object.entries(service?.selector ?? {});
  const { podLabels } = workload;
  const fits = ([key, value]: [string, string]) => !Object.hasOwn(podLabels, key) || podLabels[key] === value;
  return selector.length > 0 && selector.every(fits);
}
