import type { V1ServerGroupSummaryView } from '../../../../contract/answers/kubernetes-v1.ts';
import type { ServerGroupsRequest, ViewedList } from '../../../../core/views/views.ts';
import { type CacheReading, listObjects, listPlaces, readAllFacts } from '../../reads/cache-reading.ts';
import { loadAccount } from '../../reads/cached-application.ts';
import type { ObjectFacts, ServerGroupFacts } from '../../rows/facts.ts';
import { toV1ServerGroupSummaryView } from '../views/server-group-view.ts';

/** Server groups of an account, with what views join to them. */
export interface V1ServerGroups {
  readonly account: string;
  readonly serverGroups: readonly ServerGroupFacts[];
  readonly ingresses: readonly ObjectFacts[];
}

/** The server groups of an application in the accounts that `isWanted` picks, with their pods. */
export async function loadV1ServerGroups(
  reading: CacheReading,
  application: string,
  isWanted: (account: string) => boolean = () => true,
): Promise<V1ServerGroups[]> {
  const places = await listPlaces(reading, application);
  return Promise.all(
    places
      .filter(({ account }) => isWanted(account))
      .map(async (place) => {
        const { account } = place;
        const [{ serverGroups }, ingresses] = await Promise.all([
          loadAccount(reading, place, { serverGroups: true, pods: true }),
          loadIngresses(reading, place),
        ]);
        return { account, serverGroups, ingresses };
      }),
  );
}

/** The Ingresses of some namespaces, whatever applications they belong to. */
export async function loadIngresses(
  reading: CacheReading,
  { account, namespaces }: { readonly account: string; readonly namespaces: readonly string[] },
): Promise<ObjectFacts[]> {
  const lists = await Promise.all(
    namespaces.map((namespace) => listObjects(reading, { account, kind: 'ingress', namespace })),
  );
  return readAllFacts(lists.flat());
}

/** See {@link ViewReader.listServerGroups}. */
export async function listV1ServerGroups(
  reading: CacheReading,
  { applications, clusters }: ServerGroupsRequest,
): Promise<ViewedList> {
  if (clusters?.length === 0) return { value: [], accounts: [] };
  const isWanted = (account: string): boolean =>
    clusters === undefined || clusters.some((cluster) => cluster.startsWith(`${account}:`));
  const names = [...new Set(applications)];
  const found = await Promise.all(names.map((name) => loadV1ServerGroups(reading, name, isWanted)));
  const value = found.flat().flatMap((own) => selectClusters(own, clusters));
  return { value, accounts: [...new Set(found.flat().map(({ account }) => account))] };
}

function selectClusters(
  { account, serverGroups, ingresses }: V1ServerGroups,
  clusters: readonly string[] | undefined,
): V1ServerGroupSummaryView[] {
  const wanted = clusters && new Set(clusters);
  return serverGroups
    .filter(({ facts }) => wanted === undefined || wanted.has(`${account}:${facts.moniker.cluster}`))
    .map((serverGroup) => toV1ServerGroupSummaryView(serverGroup, { account, ingresses }));
}
