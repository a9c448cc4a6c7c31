import { compareText } from '#core/text-order.ts';
import type { Viewed, ViewedList, ViewKey } from '#views/views.ts';
import { toInstanceView } from '../views/instance-view.ts';
import { toRawResourceViews } from '../views/raw-resource-view.ts';
import { type CacheReading, findFacts, listPlaces } from './cache-reading.ts';
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

/** See {@link ViewReader.listNamespaces}. An account's namespaces are listed even if it may not use the kind. */
export async function listNamespaces(
  { session, cache }: CacheReading,
  accounts: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const configured = accounts
    .map((name) => session.findAccount(name))
    .filter((account) => account !== undefined);
  const unnamed = configured.filter(({ namespaces }) => namespaces.length === 0);
  const cached = await cache.listNamespaces(unnamed.map(({ name }) => name));
  return new Map(
    configured.map(({ name, namespaces, omitNamespaces }) => {
      const known = cached.get(name)?.filter((namespace) => !omitNamespaces.includes(namespace));
      return [name, known?.sort(compareText) ?? namespaces];
    }),
  );
}
