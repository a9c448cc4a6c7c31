import type { StoredObject } from '../../../core/cache/cache-store.ts';
import type { ViewedList, ViewSearchRequest } from '../../../core/views/views.ts';
import type { KubernetesAccount } from '../account/account.ts';
import { formatFullName } from '../kinds/name.ts';
import { waitingApplication } from '../rows/row-names.ts';
import {
  compareResults,
  createKindFilter,
  isInCluster,
  type SearchObject,
  type SearchPlace,
  type SearchResultView,
  searchObjects,
  toSearchObject,
} from '../views/search-view.ts';
import { type CacheReading, createSight, readAllFacts } from './cache-reading.ts';
import { listAllPlaces } from './cached-application.ts';

/** Types that stand in the directory. */
const placeTypes: readonly string[] = ['applications', 'clusters'];

/**
 * See {@link ViewReader.search}. Applications and clusters are searched in the directory, objects among all of the kinds asked for:
 * without their bodies, unless they belong to clusters. Only what is found is kept.
 */
export async function search(
  reading: CacheReading,
  { query, types }: ViewSearchRequest,
): Promise<ViewedList<SearchResultView>> {
  const { accounts } = reading.session;
  const isPlaceType = (type: string) => placeTypes.includes(type.toLowerCase());
  const wantedPlaces = types.length === 0 ? placeTypes : types.filter(isPlaceType);
  const objectTypes = types.filter((type) => !isPlaceType(type));
  const select = (found: Iterable<SearchObject | SearchPlace>, among: readonly string[]) =>
    searchObjects(found, { query, types: among });
  const isWanted = types.length === 0 ? () => true : createKindFilter(objectTypes);
  const lists = await Promise.all([
    wantedPlaces.length > 0 ? listPlaces(reading).then((places) => select(places, wantedPlaces)) : [],
    ...accounts.map((account) =>
      searchAccount(reading, account, { query, isWanted, select: (found, kind) => select(found, [kind]) }),
    ),
  ]);
  return { value: lists.flat().sort(compareResults), accounts: accounts.map(({ name }) => name) };
}

/** How an account is searched. */
interface AccountSearch {
  readonly query: string;
  readonly isWanted: ReturnType<typeof createKindFilter>;
  readonly select: (found: readonly SearchObject[], kind: string) => readonly SearchResultView[];
}

async function listPlaces(reading: CacheReading): Promise<SearchPlace[]> {
  const places = await listAllPlaces(reading);
  return places
    .filter(({ application }) => application !== waitingApplication)
    .flatMap(({ application, account, clusters }): SearchPlace[] => [
      { application, account },
      ...clusters.map((cluster) => ({ application, account, cluster })),
    ]);
}

async function searchAccount(
  reading: CacheReading,
  account: KubernetesAccount,
  search: AccountSearch,
): Promise<SearchResultView[]> {
  const { cache, limit } = reading;
  const kinds = await limit(() => cache.listKinds(account.name));
  const wanted = kinds.filter((kind) =>
    search.isWanted({ kind, spinnakerKind: account.kindRegistry.find(kind).spinnakerKind }),
  );
  const found = await Promise.all(
    wanted.map((kind) => limit(() => searchKind(reading, { account, kind, search }))),
  );
  return found.flat();
}

async function searchKind(
  reading: CacheReading,
  { account, kind, search }: { account: KubernetesAccount; kind: string; search: AccountSearch },
): Promise<SearchResultView[]> {
  const { cache } = reading;
  const { name, kindRegistry, caching } = account;
  const isSeen = createSight(reading, name);
  const { select, query } = search;
  const { spinnakerKind } = kindRegistry.find(kind);
  const found: SearchResultView[] = [];
  if (isInCluster(spinnakerKind)) {
    for await (const objects of cache.listObjects(name, kind)) {
      const facts = readAllFacts(objects.filter((object) => isSeen(object.key) && mayHold(object, query)));
      found.push(
        ...select(
          facts.map((each) => toSearchObject(name, each, caching.allApplicationRelationships)),
          kind,
        ),
      );
    }
    return found;
  }
  for await (const heads of cache.listHeads(name, kind)) {
    const seen = heads.filter(({ key }) => isSeen(key));
    found.push(
      ...select(
        seen.map(({ key, application }) => ({ ...key, spinnakerKind, application })),
        kind,
      ),
    );
  }
  return found;
}

/**
 * Whether a query may stand in what an object is found by: its key, or its application or cluster, which stand in its body unless
 * its name says the same. To look costs less than to decode the body.
 */
function mayHold({ key, readBody }: StoredObject, query: string): boolean {
  const wanted = query.toLowerCase();
  // JSON writes these otherwise.
  if (/["\\]/.test(wanted)) return true;
  const { kind, account, namespace, name } = key;
  const texts = [[kind, account, namespace, name].join(':'), formatFullName(kind, name)];
  return [...texts, readBody()].some((text) => text.toLowerCase().includes(wanted));
}
