import { compareText } from '../../../core/text-order.ts';
import type { Viewed, ViewedList, ViewKey } from '../../../core/views/views.ts';
import { toInstanceView } from '../views/instance-view.ts';
import { toRawResourceViews } from '../views/raw-resource-view.ts';
import { type CacheReading, collect, findObject, listPlaces, readAllFacts } from './cache-reading.ts';
import { loadRowObjects } from './cached-application.ts';

/** See {@link ViewReader.findInstance}. */
export async function findInstance(reading: CacheReading, key: ViewKey): Promise<Viewed | undefined> {
  const object = await findObject(reading, key);
  const [facts] = object === undefined ? [] : readAllFacts([object]);
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

/** See {@link ViewReader.listNamespaces}. */
export async function listNamespaces(reading: CacheReading, account: string): Promise<readonly string[]> {
  const configured = reading.session.findAccount(account);
  if (configured === undefined) return [];
  if (configured.namespaces.length > 0) return configured.namespaces;
  // Not by `listObjects`: an account may know its namespaces without being allowed to use the kind.
  const { cache, limit } = reading;
  const objects = await limit(() => collect(cache.listObjects(account, 'namespace', {})));
  const names = objects.map(({ key }) => key.name);
  return names.filter((name) => !configured.omitNamespaces.includes(name)).sort(compareText);
}
