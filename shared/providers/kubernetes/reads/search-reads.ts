import type { ViewedList, ViewSearchRequest } from '#views/views.ts';
import { isV1Account, type KubernetesAccount } from '../account/account.ts';
import {
  compareResults,
  createKindFilter,
  type SearchPlace,
  type SearchResultView,
  searchObjects,
} from '../views/search-view.ts';
import { type CacheReading, createSight } from './cache-reading.ts';
import { listAllPlaces } from './cached-application.ts';

/** Types that are in the directory. */
const placeTypes: readonly string[] = ['applications', 'clusters'];

/**
 * See {@link ViewReader.search}. Searches the directory for applications and clusters, and all requested kinds for objects, without their
 * bodies. Only matches are kept.
 */
export async function search(
  reading: CacheReading,
  { query, types }: ViewSearchRequest,
): Promise<ViewedList<SearchResultView>> {
  const { accounts } = reading.session;
  const isPlaceType = (type: string): boolean => placeTypes.includes(type.toLowerCase());
  // Projects are in the catalog: no kind has that name.
  const isObjectType = (type: string): boolean => !isPlaceType(type) && type.toLowerCase() !== 'projects';
  const isForObjects = types.length === 0 || types.some(isObjectType);
  const lists = await Promise.all([
    searchPlaces(reading, { query, types: types.length === 0 ? placeTypes : types.filter(isPlaceType) }),
    ...(isForObjects ? accounts : []).map((account) => searchAccount(reading, account, { query, types })),
  ]);
  return { value: lists.flat().sort(compareResults), accounts: accounts.map(({ name }) => name) };
}

async function searchPlaces(reading: CacheReading, request: ViewSearchRequest): Promise<SearchResultView[]> {
  if (request.types.length === 0) return [];
  const places = await listAllPlaces(reading);
  const all = places.flatMap(({ application, account, clusters }): SearchPlace[] => [
    { application, account },
    ...clusters.map((cluster) => ({ application, account, cluster })),
  ]);
  return searchObjects(all, request);
}

async function searchAccount(
  reading: CacheReading,
  configured: KubernetesAccount,
  { query, types }: ViewSearchRequest,
): Promise<SearchResultView[]> {
  const { cache, limit } = reading;
  const { name: account, kindRegistry } = configured;
  const isBare = isV1Account(configured);
  const isSeen = createSight(reading, account);
  const names = await limit(() => cache.listKinds(account));
  const kinds = names.map((kind) => ({ kind, spinnakerKind: kindRegistry.find(kind).spinnakerKind }));
  const wanted = types.length === 0 ? kinds : kinds.filter(createKindFilter(types));
  const searchKind = async ({ kind, spinnakerKind }: (typeof kinds)[number]): Promise<SearchResultView[]> => {
    const found: SearchResultView[] = [];
    for await (const heads of cache.listHeads(account, kind, { consistent: false })) {
      const seen = heads.filter(({ key }) => isSeen(key));
      const objects = seen.map(({ key: { location: namespace, name }, application, cluster }) => {
        return { account, kind, spinnakerKind, namespace, name, application, cluster, isBare };
      });
      found.push(...searchObjects(objects, { query, types: [kind] }));
    }
    return found;
  };
  return (await Promise.all(wanted.map((kind) => limit(() => searchKind(kind))))).flat();
}
