import type { CacheStore } from '#caching/store/cache-store.ts';
import { InvalidInputError, NotFoundError } from '#core/errors.ts';
import type { ApplicationPage, Viewed, ViewedList, ViewKey, ViewReader, ViewsOpener } from './views.ts';

/** The views of several providers as one: an account belongs to one of them, an application may be in all. */
export interface ViewSet extends ViewReader {
  /** Ids of the providers that have views. */
  readonly providers: readonly string[];
  /** The same views of one provider only, by its id in any case; of all without an id, of none for an unknown one. */
  selectProvider(id: string | undefined): ViewSet;
}

/** Views, and their accounts. */
export interface ViewReaderPart {
  readonly accounts: readonly string[];
  readonly reader: ViewReader;
}

/** A provider's part of the views. */
export interface ViewProvider {
  readonly name: string;
  readonly accounts: readonly { readonly name: string }[];
  /** Default: it has no views. */
  readonly openViews?: ViewsOpener;
}

/** The views of one provider. */
interface ViewPart extends ViewReaderPart {
  readonly provider: string;
}

/** The providers' views of a cache. Makes no call. @param mayRead whether an account is shown: others are not even read */
export async function openViewSet(
  providers: readonly ViewProvider[],
  cache: CacheStore,
  mayRead: (account: string) => boolean,
): Promise<ViewSet> {
  const parts = providers.map(async ({ name, accounts, openViews }) => {
    const reader = await openViews?.(cache, mayRead);
    return (
      reader && { provider: name, accounts: accounts.map((account) => account.name).filter(mayRead), reader }
    );
  });
  return createViewSet((await Promise.all(parts)).filter((part) => part !== undefined));
}

/** What was found. @param complaint the message where nothing was found, in plain words. @throws NotFoundError */
export function getFound<T>(viewed: Viewed<T> | undefined, complaint: string): Viewed<T> {
  if (viewed === undefined) throw new NotFoundError(complaint);
  return viewed;
}

/** Checks that a provider has views. @param provider its id, in any case. @throws InvalidInputError naming those that have views. */
export function checkViewProvider({ providers }: Pick<ViewSet, 'providers'>, provider: string): void {
  if (providers.some((known) => known.toLowerCase() === provider.toLowerCase())) return;
  throw new InvalidInputError(`Unknown cloud provider '${provider}' (known: ${providers.join(', ')})`);
}

function createViewSet(parts: readonly ViewPart[]): ViewSet {
  return {
    ...joinViewReaders(parts),
    providers: parts.map(({ provider }) => provider),
    selectProvider: (id) =>
      id === undefined
        ? createViewSet(parts)
        : createViewSet(parts.filter(({ provider }) => provider.toLowerCase() === id.toLowerCase())),
  };
}

/** Several views as one: an account belongs to one of them, an application may be in all. Equal finds of several are found once. */
export function joinViewReaders(parts: readonly ViewReaderPart[]): ViewReader {
  const readers = parts.map(({ reader }) => reader);
  const owners = new Map(
    parts.flatMap(({ accounts, reader }) => accounts.map((account) => [account, reader] as const)),
  );
  const nothing = { value: [], accounts: [] };
  /** Asks every provider, and joins their lists. */
  const joinLists = async <T>(
    ask: (reader: ViewReader) => Promise<ViewedList<T>>,
  ): Promise<ViewedList<T>> => {
    const [first = nothing, ...others] = await Promise.all(readers.map(ask));
    return others.length === 0 ? first : toViewed([first, ...others], (lists) => lists.flat());
  };
  return {
    listApplications: () => joinLists((reader) => reader.listApplications()),
    async findApplication(application) {
      const found = await Promise.all(readers.map((reader) => reader.findApplication(application)));
      const pages = found.filter((page) => page !== undefined);
      return pages.length < 2 ? pages[0] : toViewed(pages, mergePages);
    },
    async listClusterNames(application) {
      const found = await Promise.all(readers.map((reader) => reader.listClusterNames(application)));
      return toViewed(found, mergeMaps);
    },
    listClusters: async (application, account) =>
      (await owners.get(account)?.listClusters(application, account)) ?? nothing,
    findCluster: async (key, options) => owners.get(key.account)?.findCluster(key, options),
    listServerGroups: (request) => joinLists((reader) => reader.listServerGroups(request)),
    listServerGroupsByKeys: (keys) =>
      joinLists((reader) =>
        reader.listServerGroupsByKeys(keys.filter(({ account }) => owners.get(account) === reader)),
      ),
    findServerGroup: async (key) => owners.get(key.account)?.findServerGroup(key),
    findTargetServerGroup: async (request) => owners.get(request.account)?.findTargetServerGroup(request),
    listServerGroupManagers: (application) =>
      joinLists((reader) => reader.listServerGroupManagers(application)),
    listLoadBalancers: (application) => joinLists((reader) => reader.listLoadBalancers(application)),
    findLoadBalancer: async (key: ViewKey) => owners.get(key.account)?.findLoadBalancer(key),
    async listSecurityGroups(request) {
      const { account } = request;
      const asked =
        account === undefined ? readers : [owners.get(account)].filter((reader) => reader !== undefined);
      return toViewed(
        await Promise.all(asked.map((reader) => reader.listSecurityGroups(request))),
        mergeMaps,
      );
    },
    findSecurityGroup: async (key) => owners.get(key.account)?.findSecurityGroup(key),
    findManifest: async (request) => owners.get(request.account)?.findManifest(request),
    findInstance: async (key) => owners.get(key.account)?.findInstance(key),
    listRawResources: (application) => joinLists((reader) => reader.listRawResources(application)),
    listAccountResources: async (account) =>
      (await owners.get(account)?.listAccountResources?.(account)) ?? [],
    async search(request) {
      const { value, accounts } = await joinLists((reader) => reader.search(request));
      if (readers.length < 2) return { value, accounts };
      const unique = new Map(value.map((find) => [JSON.stringify(find), find]));
      return { value: [...unique.values()], accounts };
    },
    listProjectClusters: (project) => joinLists((reader) => reader.listProjectClusters(project)),
    async listNamespaces(accounts) {
      const asked = Map.groupBy(accounts, (account) => owners.get(account));
      const found = await Promise.all([...asked].map(([reader, own]) => reader?.listNamespaces(own) ?? []));
      return new Map(found.flatMap((names) => [...names]));
    },
  };
}

/** One answer of several. */
function toViewed<T>(parts: readonly Viewed<T>[], merge: (values: readonly T[]) => T): Viewed<T> {
  return {
    value: merge(parts.map(({ value }) => value)),
    accounts: [...new Set(parts.flatMap(({ accounts }) => accounts))],
  };
}

/** Maps by account, of which no two providers share one. */
function mergeMaps<T extends object>(maps: readonly T[]): T {
  return Object.assign({}, ...maps);
}

/** Merges an application's pages, of which there is at least one. */
function mergePages(pages: readonly ApplicationPage[]): ApplicationPage {
  const named = pages.flatMap(({ attributes }) => attributes.cloudProviders.split(','));
  const cloudProviders = [...new Set(named)].join(',');
  const [{ name } = { name: '' }] = pages;
  const attributes = { ...mergeMaps(pages.map((page) => page.attributes)), cloudProviders };
  return { name, attributes, clusters: mergeMaps(pages.map(({ clusters }) => clusters)) };
}
