import type { DirectoryEntry, RowPlace, StoredObject, StoredRow } from '#caching/store/cache-store.ts';
import type { ObjectFacts, ServerGroupFacts } from '../rows/facts.ts';
import { asFacts, listInstances } from '../rows/row-entries.ts';
import { getRowName, type RowView } from '../rows/row-names.ts';
import { type CacheReading, createSight, readAllFacts } from './cache-reading.ts';

/** From this many server groups in a namespace on, all of its pods are read at once. */
const wholeNamespaceFrom = 16;

/** The rows of pods, by the name of the server group's row. Those of other server groups are never decoded. */
export type PodRows = ReadonlyMap<string, StoredRow>;

/** The contents of the rows of namespaces. */
export interface NamespaceRows {
  readonly pods: PodRows;
  readonly services: readonly ObjectFacts[];
}

/** Reads the wanted pods and services of namespaces that the account may see: one query for each namespace. */
export async function loadNamespaceRows(
  reading: CacheReading,
  { account, locations: namespaces }: Pick<DirectoryEntry, 'account' | 'locations'>,
  wanted: { readonly pods?: boolean; readonly services?: boolean },
): Promise<NamespaceRows> {
  const pods = new Map<string, StoredRow>();
  const services: ObjectFacts[] = [];
  const isSeen = createSight(reading, account);
  const { pods: withPods = false, services: withServices = false } = wanted;
  // Cluster-scoped objects are stored under an empty name.
  const isWanted = (namespace: string): boolean =>
    (withPods || withServices) && namespace !== '' && isSeen({ kind: '', location: namespace, name: '' });
  await Promise.all(
    namespaces.filter(isWanted).map(async (namespace) => {
      const view = withPods && withServices ? undefined : withPods ? 'pods' : 'services';
      for (const row of await listNamespaceRows(reading, { account, location: namespace }, view)) {
        if (row.view === 'pods') pods.set(row.row, row);
        else for (const { value } of row.read().values()) services.push(asFacts(value));
      }
    }),
  );
  return { pods, services };
}

/** Server groups with the pods that they own. */
export function joinPods(serverGroups: readonly ObjectFacts[], pods: PodRows): ServerGroupFacts[] {
  return serverGroups.map((facts) => {
    const row = pods.get(getRowName(facts));
    return { facts, instances: row === undefined ? [] : listInstances(row.read(), facts.uid) };
  });
}

/** The row of the pods of one server group, as {@link joinPods} takes it. */
export async function loadPodsOf(
  { cache, limit }: CacheReading,
  { account, kind, location: namespace, name }: StoredObject['key'],
): Promise<PodRows> {
  const row = getRowName({ kind, namespace, name });
  const found = await limit(() => cache.getRow({ account, location: namespace, view: 'pods', row }));
  return new Map(found && [[row, found]]);
}

/** These objects as server groups, with their pods, in no order. The objects may be of several accounts. */
export async function loadServerGroupsOf(
  reading: CacheReading,
  objects: readonly StoredObject[],
): Promise<{ readonly account: string; readonly serverGroup: ServerGroupFacts }[]> {
  const places = Map.groupBy(objects, ({ key }) => JSON.stringify([key.account, key.location]));
  const found = await Promise.all(
    [...places.values()].map(async (members) => {
      const { account = '', location: namespace = '' } = members[0]?.key ?? {};
      const rows =
        members.length >= wholeNamespaceFrom
          ? [(await loadNamespaceRows(reading, { account, locations: [namespace] }, { pods: true })).pods]
          : await Promise.all(members.map(({ key }) => loadPodsOf(reading, key)));
      const pods: PodRows = new Map(rows.flatMap((each) => [...each]));
      return joinPods(readAllFacts(members), pods).map((serverGroup) => ({ account, serverGroup }));
    }),
  );
  return found.flat();
}

/** The rows of a namespace, in no order. */
function listNamespaceRows(
  { cache, limit }: CacheReading,
  place: RowPlace,
  view: RowView | undefined,
): Promise<StoredRow[]> {
  return limit(async () => (await Array.fromAsync(cache.listRows(place, view ? { view } : {}))).flat());
}
