import type { CacheStore, DirectoryEntry } from '#caching/store/cache-store.ts';
import type { ApplicationPageView } from '#contract/answers/applications.ts';
import type { ClusterNamesView } from '#contract/answers/clusters.ts';
import type { ProviderResource } from '#contract/answers/providers.ts';
import type { FindView } from '#contract/answers/search.ts';
import type { ServerGroupView } from '#contract/answers/server-groups.ts';

/** The clusters of one application in one account: their names, for example `deployment web`, each once. */
export type ApplicationClusters = Omit<DirectoryEntry, 'namespaces'>;

/** An answer out of the cache. Its value is ready for `JSON.stringify`. */
export interface Viewed<T = object> {
  readonly value: T;
  /** The accounts that it depends on: it is as old as the oldest of their caches. */
  readonly accounts: readonly string[];
}

/** An application's page, without what Front50 knows of it. What it shows of clusters is its provider's own. */
export type ApplicationPage = Omit<ApplicationPageView, 'clusters'> & {
  readonly clusters: { readonly [account: string]: readonly object[] };
};

/** A cluster, as far as routes look into it: the rest is its provider's own. */
export interface ClusterPage {
  readonly serverGroups: readonly Pick<ServerGroupView, 'name' | 'region'>[];
  readonly loadBalancers: readonly object[];
}

/** A server group that a stage means, as far as routes look into it. */
export type TargetServerGroup = Pick<ServerGroupView, 'name' | 'buildInfo'> &
  Partial<Pick<ServerGroupView, 'displayName'>>;

/** A list out of the cache. */
export type ViewedList<T = object> = Viewed<readonly T[]>;

/** Which cluster of an application in an account. */
export interface ClusterKey {
  readonly application: string;
  readonly account: string;
  /** `deployment web`. */
  readonly cluster: string;
}

/** Which object. `location` is the namespace, `name` the full name: `replicaSet cart-v003`. */
export interface ViewKey {
  readonly account: string;
  readonly location: string;
  readonly name: string;
}

/** Which object is shown out of the cache because it cannot be read from its cluster. */
export interface CachedManifestRequest extends ViewKey {
  /** Why it cannot: a sentence for people. */
  readonly reason: string;
  /** Epoch milliseconds. */
  readonly nowMs: number;
  /** Everything that was so at this time is in the cache, epoch milliseconds; undefined where that is not known. */
  readonly asOfMs: number | undefined;
}

/** An object of an account in go-clouddriver's words, without what each answer has its own of. */
export type AccountResource = Omit<ProviderResource, 'accountName' | 'taskId' | 'timestamp'>;

/** Which server groups of which applications. */
export interface ServerGroupsRequest {
  readonly applications: readonly string[];
  /** Only those of these clusters, `account:cluster` each; left out, all. */
  readonly clusters?: readonly string[] | undefined;
  /** Whole server groups instead of summaries. */
  readonly expand: boolean;
}

/** Which server group a stage means that names none. */
export interface TargetServerGroupRequest extends ClusterKey {
  /** Namespace; undefined for all. */
  readonly location: string | undefined;
  /** In Orca's words, in any case: `current_asg_dynamic`, `previous` … */
  readonly target: string;
  readonly onlyEnabled: boolean;
  /** Whether `oldest` wants two server groups to choose from. */
  readonly validateOldest: boolean;
}

/** Which security groups. What is left out is not asked for. */
export interface SecurityGroupsRequest {
  readonly account?: string | undefined;
  readonly location?: string | undefined;
  /** Full name: `networkPolicy deny`. */
  readonly name?: string | undefined;
}

/** What is searched for: see `GET /search`. */
export interface ViewSearchRequest {
  readonly query: string;
  /** Without any, everything. */
  readonly types: readonly string[];
}

/** One cluster of a project, as Front50 has it. */
export interface ProjectClusterSpec {
  readonly account: string;
  /** `*` for any; left out for clusters without a stack. Nothing has an empty one. */
  readonly stack?: string | undefined;
  /** `*` for any; left out for clusters without a detail. Nothing has an empty one. */
  readonly detail?: string | undefined;
  /** Only these applications; empty for all of the project. */
  readonly applications: readonly string[];
}

/** A project, as Front50 has it. */
export interface ProjectSpec {
  readonly name: string;
  readonly applications: readonly string[];
  readonly clusters: readonly ProjectClusterSpec[];
}

/**
 * The views of one provider over the cache: what is shown of its configured accounts. Undefined stands for what is not there.
 * None of them calls a cluster.
 */
export interface ViewReader {
  /** Every application with its clusters, account by account. */
  listApplications(): Promise<ViewedList<ApplicationClusters>>;
  /** `GET /applications/{application}`, without what Front50 knows of it. */
  findApplication(application: string): Promise<Viewed<ApplicationPage> | undefined>;
  /** Names of an application's clusters by account; `{}` when there are none. */
  listClusterNames(application: string): Promise<Viewed<ClusterNamesView>>;
  /** Summaries of an application's clusters in an account. */
  listClusters(application: string, account: string): Promise<ViewedList>;
  /** One cluster; with `expand` its server groups and load balancers too. */
  findCluster(
    key: ClusterKey,
    options: { readonly expand: boolean },
  ): Promise<Viewed<ClusterPage> | undefined>;
  listServerGroups(request: ServerGroupsRequest): Promise<ViewedList>;
  /** Summaries of server groups by their keys; those that are not there are left out. */
  listServerGroupsByKeys(keys: readonly ViewKey[]): Promise<ViewedList>;
  findServerGroup(key: ViewKey): Promise<Viewed | undefined>;
  /** @throws InvalidInputError for a target that nobody knows. */
  findTargetServerGroup(request: TargetServerGroupRequest): Promise<Viewed<TargetServerGroup> | undefined>;
  listServerGroupManagers(application: string): Promise<ViewedList>;
  listLoadBalancers(application: string): Promise<ViewedList>;
  findLoadBalancer(key: ViewKey): Promise<Viewed | undefined>;
  /**
   * By account, provider and namespace, down to what the request names: without an account `{account: {provider: {namespace:
   * []}}}`, with an account `{provider: {namespace: []}}`, with an account and a location `{provider: []}`, with a name
   * `{provider: {namespace: []}}`.
   */
  listSecurityGroups(request: SecurityGroupsRequest): Promise<Viewed>;
  findSecurityGroup(key: ViewKey): Promise<Viewed | undefined>;
  findInstance(key: ViewKey): Promise<Viewed | undefined>;
  /** What is cached of an object, in the form of `GET /manifests/…`, with a Warning about it as its first event. */
  findManifest(request: CachedManifestRequest): Promise<Viewed | undefined>;
  listRawResources(application: string): Promise<ViewedList>;
  /** Everything found, in a steady order; who asked takes his page of it. */
  search(request: ViewSearchRequest): Promise<ViewedList<FindView>>;
  /** What Spinnaker deployed to an account, of the kinds that Deck shows. Left out: the provider has no such resources. */
  listAccountResources?(account: string): Promise<readonly AccountResource[]>;
  /** `GET /projects/{project}/clusters`. */
  listProjectClusters(project: ProjectSpec): Promise<ViewedList>;
  /** The cached namespaces of each of these accounts that is configured, sorted; empty until they were cached. */
  listNamespaces(accounts: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>>;
}

/** Opens views over a cache, in which only accounts that `mayRead` allows are shown. Makes no call. */
export type ViewsOpener = (cache: CacheStore, mayRead: (account: string) => boolean) => Promise<ViewReader>;
