import type { ObjectKey, StoredObject } from '../../../core/cache/cache-store.ts';
import type { ServerGroupFacts } from '../views/facts.ts';
import { findServerGroup } from '../views/row-entries.ts';
import { type CacheReading, listObjects, readAllFacts } from './cache-reading.ts';
import { loadServerGroups } from './cached-application.ts';

/** From so many server groups of one application on, all of its rows are read at once. */
const wholeApplicationFrom = 16;

/** The server groups that these objects are, with their pods, in no order. The objects may be of several accounts. */
export async function loadServerGroupsOf(
  reading: CacheReading,
  objects: readonly StoredObject[],
): Promise<{ readonly account: string; readonly serverGroup: ServerGroupFacts }[]> {
  const places = Map.groupBy(objects, ({ key, application }) => JSON.stringify([key.account, application]));
  const found = await Promise.all(
    [...places.values()].map(async (members) => {
      const isWhole = members.length >= wholeApplicationFrom;
      const groups = isWhole
        ? await loadWhole(reading, members)
        : await Promise.all(members.map((object) => loadServerGroup(reading, object)));
      const account = members[0]?.key.account ?? '';
      return groups.flatMap((serverGroup) => (serverGroup === undefined ? [] : [{ account, serverGroup }]));
    }),
  );
  return found.flat();
}

/** The server group that an object is, with its pods: by its row, or, where it is in none, by the pods of its namespace. */
export async function loadServerGroup(
  reading: CacheReading,
  object: StoredObject,
): Promise<ServerGroupFacts | undefined> {
  const { cache, limit } = reading;
  const { key, application } = object;
  const { account, kind, namespace, name } = key;
  if (application !== undefined) {
    const row = getServerGroupRow({ kind, namespace, name });
    const found = await limit(() => cache.getRow({ application, account, view: 'serverGroups', row }));
    const serverGroup = found && findServerGroup(found.read());
    if (serverGroup !== undefined) return serverGroup;
  }
  const [facts] = readAllFacts([object]);
  if (facts === undefined) return undefined;
  const pods = readAllFacts(await listObjects(reading, { account, kind: 'pod', namespace }));
  return { facts, instances: pods.filter(({ owners }) => owners.some(({ uid }) => uid === facts.uid)) };
}

/** All of one application, in one account. */
async function loadWhole(
  reading: CacheReading,
  objects: readonly StoredObject[],
): Promise<(ServerGroupFacts | undefined)[]> {
  const { key, application } = objects[0] ?? {};
  const rows =
    key === undefined || application === undefined
      ? []
      : await loadServerGroups(reading, { application, account: key.account });
  const known = new Map(rows.map((each) => [getServerGroupRow(each.facts), each]));
  return Promise.all(
    objects.map((object) => known.get(getServerGroupRow(object.key)) ?? loadServerGroup(reading, object)),
  );
}

/** The name of a server group's row. */
function getServerGroupRow({ kind, namespace, name }: Omit<ObjectKey, 'account'>): string {
  return `${kind} ${namespace} ${name}`;
}
