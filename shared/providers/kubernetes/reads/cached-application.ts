import type { DirectoryEntry } from '../../../core/cache/cache-store.ts';
import type { ObjectFacts, ServerGroupFacts } from '../rows/facts.ts';
import { asFacts, findServerGroup, selfKey } from '../rows/row-entries.ts';
import { type RowView, rowViews } from '../rows/row-names.ts';
import type { AccountFacts, ApplicationFacts } from '../views/application-facts.ts';
import { listApplicationClusters } from '../views/cluster-view.ts';
import { type CacheReading, createSight, listPlaces, loadServices, toSeenPlace } from './cache-reading.ts';

/** What is wanted of an application; what is left out is not read. */
export interface WantedParts {
  readonly serverGroups?: boolean;
  readonly managers?: boolean;
  readonly loadBalancers?: boolean;
  /** The services of its namespaces. */
  readonly services?: boolean;
}

/** An application, and the accounts it was read from. */
export interface CachedApplication {
  readonly facts: ApplicationFacts;
  readonly accounts: readonly string[];
}

/**
 * The directory of all applications, as far as accounts are configured and may see it. Its clusters are read from rows where it
 * counts objects that the account may not see: after its settings changed, and until the agents have taken those away.
 */
export async function listAllPlaces(reading: CacheReading): Promise<DirectoryEntry[]> {
  const { session, cache, limit } = reading;
  const entries = await limit(() => cache.listApplications());
  const places = await Promise.all(
    entries.map(async (entry) => {
      const seen = toSeenPlace(session, entry);
      if (seen === undefined || seen.namespaces.length === entry.namespaces.length) return seen;
      const facts = await loadAccount(reading, seen, { serverGroups: true, managers: true });
      const [found] = listApplicationClusters({ application: seen.application, accounts: [facts] });
      return { ...seen, clusters: found?.clusters ?? [] };
    }),
  );
  return places.filter((place) => place !== undefined);
}

/** An application in every account where it is, or in those that `isWanted` picks. Its neighbours are not read. */
export async function loadApplication(
  reading: CacheReading,
  application: string,
  { wanted, isWanted = () => true }: { wanted: WantedParts; isWanted?: (account: string) => boolean },
): Promise<CachedApplication> {
  const entries = await listPlaces(reading, application);
  const places = entries.filter(({ account }) => isWanted(account));
  const accounts = await Promise.all(places.map((place) => loadAccount(reading, place, wanted)));
  return { facts: { application, accounts }, accounts: accounts.map(({ account }) => account) };
}

/** What an application has in an account, in so far as it is wanted. */
export async function loadAccount(
  reading: CacheReading,
  place: DirectoryEntry,
  wanted: WantedParts,
): Promise<AccountFacts> {
  const { account, namespaces } = place;
  const [serverGroups, managers, loadBalancers, namespaceServices] = await Promise.all([
    wanted.serverGroups ? loadServerGroups(reading, place) : [],
    wanted.managers ? loadRowObjects(reading, place, rowViews.serverGroupManagers) : [],
    wanted.loadBalancers ? loadRowObjects(reading, place, rowViews.loadBalancers) : [],
    wanted.services ? loadServices(reading, account, namespaces) : [],
  ]);
  return { account, serverGroups, managers, loadBalancers, namespaceServices, neighbours: [] };
}

/** The server groups of an application in an account, with their pods. A page is decoded while the next one is on its way. */
export function loadServerGroups(
  reading: CacheReading,
  { application, account }: Pick<DirectoryEntry, 'application' | 'account'>,
): Promise<ServerGroupFacts[]> {
  const { cache, limit, addRows } = reading;
  const isSeen = createSight(reading, account);
  return limit(async () => {
    const found: ServerGroupFacts[] = [];
    for await (const rows of cache.listRows(application, account, { view: rowViews.serverGroups })) {
      addRows(rows.length);
      for (const row of rows) {
        const serverGroup = findServerGroup(row.read());
        if (serverGroup !== undefined && isSeen(serverGroup.facts)) found.push(serverGroup);
      }
    }
    return found;
  });
}

/** The objects that the rows of a view, or of all views, of an application in an account are of: pods of server groups aside. */
export function loadRowObjects(
  reading: CacheReading,
  { application, account }: Pick<DirectoryEntry, 'application' | 'account'>,
  view?: RowView,
): Promise<ObjectFacts[]> {
  const { cache, limit, addRows } = reading;
  const isSeen = createSight(reading, account);
  return limit(async () => {
    const found: ObjectFacts[] = [];
    for await (const rows of cache.listRows(application, account, view === undefined ? {} : { view })) {
      addRows(rows.length);
      for (const row of rows) {
        const self = row.read().get(selfKey);
        const facts = self && asFacts(self.value);
        if (facts !== undefined && isSeen(facts)) found.push(facts);
      }
    }
    return found;
  });
}
