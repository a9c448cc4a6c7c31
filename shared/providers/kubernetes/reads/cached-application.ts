import type { DirectoryEntry } from '#caching/store/cache-store.ts';
import { compareText } from '#core/text-order.ts';
import type { ObjectFacts } from '../rows/facts.ts';
import { findSelf } from '../rows/row-entries.ts';
import { type ApplicationView, rowViews, toNamedObject } from '../rows/row-names.ts';
import type { AccountFacts, ApplicationFacts } from '../views/application-facts.ts';
import { listClusters } from '../views/cluster-view.ts';
import { type CacheReading, createSight, listPlaces, toSeenPlace } from './cache-reading.ts';
import { joinPods, loadNamespaceRows } from './namespace-rows.ts';

/** The wanted parts of an application; the others are not read. */
export interface WantedParts {
  readonly serverGroups?: boolean;
  /** The pods of the server groups; otherwise these have none. */
  readonly pods?: boolean;
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
 * The directory of all applications, as far as accounts are configured and may see it. Clusters are read from rows where the directory
 * counts objects that the account may not see: after its settings changed, until the caching agents have evicted those.
 */
export async function listAllPlaces(reading: CacheReading): Promise<DirectoryEntry[]> {
  const { cache, limit } = reading;
  return loadSeenClusters(reading, await limit(() => cache.listApplications()));
}

/** The same for one application, sorted by account. */
export async function listClusterPlaces(
  reading: CacheReading,
  application: string,
): Promise<DirectoryEntry[]> {
  const { cache, limit } = reading;
  const places = await loadSeenClusters(reading, await limit(() => cache.listAccounts(application)));
  return places.sort((one, other) => compareText(one.account, other.account));
}

async function loadSeenClusters(
  reading: CacheReading,
  entries: readonly DirectoryEntry[],
): Promise<DirectoryEntry[]> {
  const places = await Promise.all(
    entries.map(async (entry) => {
      const seen = toSeenPlace(reading.session, entry);
      if (seen === undefined || seen.locations.length === entry.locations.length) return seen;
      const facts = await loadAccount(reading, seen, { serverGroups: true, managers: true });
      return { ...seen, clusters: listClusters(facts) };
    }),
  );
  return places.filter((place) => place !== undefined);
}

/** An application in every account that has it, or in those that `isWanted` picks. Its neighbours are not read. */
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

/** The wanted parts of an application in an account. */
export async function loadAccount(
  reading: CacheReading,
  place: DirectoryEntry,
  wanted: WantedParts,
): Promise<AccountFacts> {
  const { account } = place;
  const [serverGroups, managers, loadBalancers, { pods, services }] = await Promise.all([
    wanted.serverGroups ? loadRowObjects(reading, place, rowViews.serverGroups) : [],
    wanted.managers ? loadRowObjects(reading, place, rowViews.serverGroupManagers) : [],
    wanted.loadBalancers ? loadRowObjects(reading, place, rowViews.loadBalancers) : [],
    loadNamespaceRows(reading, place, wanted),
  ]);
  return {
    account,
    serverGroups: joinPods(serverGroups, pods),
    managers,
    loadBalancers,
    namespaceServices: services,
    neighbours: [],
  };
}

/** The objects in the rows of one view, or of all views, of an application in an account. A page is decoded while the next one loads. */
export function loadRowObjects(
  reading: CacheReading,
  { application, account }: Pick<DirectoryEntry, 'application' | 'account'>,
  view?: ApplicationView,
): Promise<ObjectFacts[]> {
  const { cache, limit, addRows } = reading;
  const isSeen = createSight(reading, account);
  return limit(async () => {
    const found: ObjectFacts[] = [];
    for await (const rows of cache.listRows({ application, account }, view === undefined ? {} : { view })) {
      addRows(rows.length);
      for (const row of rows) {
        const facts = findSelf(row.read());
        if (facts !== undefined && isSeen(toNamedObject(facts))) found.push(facts);
      }
    }
    return found;
  });
}
