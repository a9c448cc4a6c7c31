import { compareText } from '#core/text-order.ts';
import type { CachedManifestRequest, Viewed, ViewedList, ViewKey } from '#views/views.ts';
import { findDefaultNamespace } from '../account/account-bounds.ts';
import { toCachedManifestView } from '../views/cached-manifest-view.ts';
import { toInstanceView } from '../views/instance-view.ts';
import { toRawResourceViews } from '../views/raw-resource-view.ts';
import { type CacheReading, findFacts, findObjects, listPlaces, readAllFacts } from './cache-reading.ts';
import { loadRowObjects } from './cached-application.ts';

/** See {@link ViewReader.findInstance}. */
export async function findInstance(reading: CacheReading, key: ViewKey): Promise<Viewed | undefined> {
  const facts = await findFacts(reading, key);
  return facts && { value: toInstanceView(key.account, facts), accounts: [key.account] };
}

/** See {@link ViewReader.listRawResources}. All rows of the application are read. */
export async function listRawResources(reading: CacheReading, application: string): Promise<ViewedList> {
  const places = await listPlaces(reading, application);
  const found = await Promise.all(
    places.map(async (place) => {
      const { account } = place;
      const resources = await loadRowObjects(reading, place);
      const rules = reading.session.findAccount(account)?.caching;
      return rules === undefined ? [] : [{ account, resources, rules }];
    }),
  );
  return { value: toRawResourceViews(found.flat()), accounts: places.map(({ account }) => account) };
}

/** See {@link ViewReader.listAccountDetails}: the namespaces of accounts that name none, even where the account may not use the kind. */
export async function listAccountDetails(
  { session, cache }: CacheReading,
  accounts: readonly string[],
): Promise<ReadonlyMap<string, { readonly namespaces: string[] }>> {
  const unnamed = accounts
    .flatMap((name) => session.findAccount(name) ?? [])
    .filter(({ namespaces }) => namespaces.length === 0);
  const cached = await cache.listLocations(unnamed.map(({ name }) => name));
  return new Map(
    unnamed.map(({ name, omitNamespaces }) => {
      const known = cached.get(name)?.filter((namespace) => !omitNamespaces.includes(namespace)) ?? [];
      return [name, { namespaces: known.sort(compareText) }];
    }),
  );
}

/** See {@link ViewReader.findManifest}. Without a namespace: cluster-scoped, else in the first that the settings name. */
export async function findManifest(
  reading: CacheReading,
  request: CachedManifestRequest,
): Promise<Viewed | undefined> {
  const account = reading.session.findAccount(request.account);
  if (account === undefined) return undefined;
  const { location } = request;
  const locations = location === '' ? ['', findDefaultNamespace(account) ?? ''] : [location];
  const objects = await findObjects(
    reading,
    locations.map((each) => ({ ...request, location: each })),
  );
  const [facts] = readAllFacts(objects);
  return facts && { value: toCachedManifestView(account, facts, request), accounts: [account.name] };
}
