import type { CacheStore } from '#caching/store/cache-store.ts';
import { InvalidInputError, NotFoundError } from '#core/errors.ts';
import type {
  ApplicationPage,
  CachedReads,
  ProjectClusterSpec,
  Viewed,
  ViewedList,
  ViewReader,
  ViewsOpener,
} from './views.ts';

/** The views of several providers as one: an account belongs to one of them, an application may be in all. */
export interface ViewSet extends ViewReader {
  /** Ids of the providers that have views. */
  readonly providers: readonly string[];
  /** The same views of one provider only, by its id in any case; of all without an id, of none for an unknown one. */
  selectProvider(id: string | undefined): ViewSet;
}

/** A cloud provider's part of the views. */
export interface ViewProvider {
  readonly name: string;
  readonly accounts: readonly { readonly name: string }[];
  /** Default: it has no views. */
  readonly openViews?: ViewsOpener;
}

/** The views of a cloud provider, and those of its accounts that may be shown. */
interface ViewPart {
  readonly provider: string;
  readonly accounts: readonly string[];
  readonly reads: CachedReads;
}

/** The providers' views of a cache. Makes no call. @param mayRead whether an account is shown: others are not even read */
export async function openViewSet(
  providers: readonly ViewProvider[],
  cache: CacheStore,
  mayRead: (account: string) => boolean,
): Promise<ViewSet> {
  const parts = providers.map(async ({ name, accounts, openViews }) => {
    const reads = await openViews?.(cache, mayRead);
    return (
      reads && { provider: name, accounts: accounts.map((account) => account.name).filter(mayRead), reads }
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
    ...joinAll(parts),
    ...joinAccounts(parts),
    providers: [...new Set(parts.map(({ provider }) => provider))],
    selectProvider: (id) =>
      id === undefined
        ? createViewSet(parts)
        : createViewSet(parts.filter(({ provider }) => provider.toLowerCase() === id.toLowerCase())),
  };
}

/** The result of views that a cloud provider does not have. */
const nothing = { value: [], accounts: [] };

/** Views of all accounts: an application may be of several cloud providers. Equal finds of several are found once. */
function joinAll(parts: readonly ViewPart[]) {
  const all = parts.map(({ reads }) => reads);
  return {
    listApplications: () => joinLists(all.map((reads) => reads.listApplications?.())),
    async findApplication(application) {
      const found = await Promise.all(all.map((reads) => reads.findApplication?.(application)));
      const pages = found.filter((page) => page !== undefined);
      return pages.length < 2 ? pages[0] : toViewed(pages, mergePages);
    },
    listClusterNames: (application) => joinMaps(all.map((reads) => reads.listClusterNames?.(application))),
    listServerGroups: (request) => joinLists(all.map((reads) => reads.listServerGroups?.(request))),
    listServerGroupManagers: (application) =>
      joinLists(all.map((reads) => reads.listServerGroupManagers?.(application))),
    listLoadBalancers: (application) => joinLists(all.map((reads) => reads.listLoadBalancers?.(application))),
    listRawResources: (application) => joinLists(all.map((reads) => reads.listRawResources?.(application))),
    async search(request) {
      const { value, accounts } = await joinLists(all.map((reads) => reads.search?.(request)));
      if (all.length < 2) return { value, accounts };
      const unique = new Map(value.map((find) => [JSON.stringify(find), find]));
      return { value: [...unique.values()], accounts };
    },
  } satisfies CachedReads;
}

/** Views of accounts, each of which belongs to one cloud provider. */
function joinAccounts(parts: readonly ViewPart[]) {
  const owners = new Map(
    parts.flatMap(({ accounts, reads }) => accounts.map((account) => [account, reads] as const)),
  );
  return {
    listClusters: async (application, account) =>
      (await owners.get(account)?.listClusters?.(application, account)) ?? nothing,
    findCluster: async (key, options) => owners.get(key.account)?.findCluster?.(key, options),
    listServerGroupsByKeys(keys) {
      const own = Map.groupBy(keys, ({ account }) => owners.get(account));
      return joinLists(parts.map(({ reads }) => reads.listServerGroupsByKeys?.(own.get(reads) ?? [])));
    },
    findServerGroup: async (key) => owners.get(key.account)?.findServerGroup?.(key),
    findTargetServerGroup: async (request) => owners.get(request.account)?.findTargetServerGroup?.(request),
    findLoadBalancer: async (key) => owners.get(key.account)?.findLoadBalancer?.(key),
    async listSecurityGroups(request) {
      const { account } = request;
      const asked = account === undefined ? parts.map(({ reads }) => reads) : [owners.get(account)];
      return joinMaps(asked.map((reads) => reads?.listSecurityGroups?.(request)));
    },
    findSecurityGroup: async (key) => owners.get(key.account)?.findSecurityGroup?.(key),
    findManifest: async (request) => owners.get(request.account)?.findManifest?.(request),
    findInstance: async (key) => owners.get(key.account)?.findInstance?.(key),
    listAccountResources: async (account) =>
      (await owners.get(account)?.listAccountResources?.(account)) ?? [],
    async listProjectClusters(project) {
      const getReads = ({ account }: ProjectClusterSpec) => owners.get(account) ?? parts[0]?.reads;
      const asked = Map.groupBy(project.clusters, getReads);
      const found = await Promise.all(
        [...asked].map(async ([reads, clusters]) => {
          const { value, accounts } =
            (await reads?.listProjectClusters?.({ ...project, clusters })) ?? nothing;
          return { reads, accounts, left: [...value] };
        }),
      );
      const of = new Map(found.map(({ reads, left }) => [reads, left]));
      const value = project.clusters.flatMap((cluster) => of.get(getReads(cluster))?.shift() ?? []);
      return { value, accounts: [...new Set(found.flatMap(({ accounts }) => accounts))] };
    },
    async listAccountDetails(accounts) {
      const asked = Map.groupBy(accounts, (account) => owners.get(account));
      const found = await Promise.all(
        [...asked].map(([reads, own]) => reads?.listAccountDetails?.(own) ?? []),
      );
      return new Map(found.flatMap((details) => [...details]));
    },
  } satisfies CachedReads;
}

/** One answer of several. */
function toViewed<T>(parts: readonly Viewed<T>[], merge: (values: readonly T[]) => T): Viewed<T> {
  return {
    value: merge(parts.map(({ value }) => value)),
    accounts: [...new Set(parts.flatMap(({ accounts }) => accounts))],
  };
}

/** Lists as one. */
async function joinLists<T>(asked: readonly (Promise<ViewedList<T>> | undefined)[]): Promise<ViewedList<T>> {
  const found = (await Promise.all(asked)).filter((list) => list !== undefined);
  const [first = nothing, ...others] = found;
  return others.length === 0 ? first : toViewed(found, (lists) => lists.flat());
}

/** Maps by account as one. */
async function joinMaps<T extends object>(
  asked: readonly (Promise<Viewed<T>> | undefined)[],
): Promise<Viewed<T>> {
  return toViewed(
    (await Promise.all(asked)).filter((found) => found !== undefined),
    mergeMaps,
  );
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
