import type { StoredObject } from '../../../core/cache/cache-store.ts';
import type { RowEntry } from '../../../core/cache/packed-row.ts';
import type { ServerGroupFacts } from '../rows/facts.ts';
import { findServerGroup, listInstances } from '../rows/row-entries.ts';
import { getRowName, rowViews, waitingApplication } from '../rows/row-names.ts';
import { type CacheReading, readAllFacts } from './cache-reading.ts';
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

/**
 * The server group that an object is, with its pods. What belongs to no application is in no row; its pods stand where they would
 * wait for it.
 */
export async function loadServerGroup(
  { cache, limit }: CacheReading,
  object: StoredObject,
): Promise<ServerGroupFacts | undefined> {
  const { key, application = waitingApplication } = object;
  const { account } = key;
  const row = await limit(() =>
    cache.getRow({ application, account, view: rowViews.serverGroups, row: getRowName(key) }),
  );
  const entries = row?.read() ?? new Map<string, RowEntry>();
  const serverGroup = findServerGroup(entries);
  if (serverGroup !== undefined) return serverGroup;
  const [facts] = readAllFacts([object]);
  return facts && { facts, instances: listInstances(entries, facts.uid) };
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
  const known = new Map(rows.map((each) => [getRowName(each.facts), each]));
  return Promise.all(
    objects.map((object) => known.get(getRowName(object.key)) ?? loadServerGroup(reading, object)),
  );
}
