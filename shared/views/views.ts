import type { CacheStore, DirectoryEntry } from '#caching/store/cache-store.ts';
import type { ApplicationPageView } from '#contract/answers/applications.ts';
import type { ClusterNamesView } from '#contract/answers/clusters.ts';
import type { ProviderResource } from '#contract/answers/providers.ts';
import type { FindView } from '#contract/answers/search.ts';
import type { ServerGroupView } from '#contract/answers/server-groups.ts';
import type { JsonObject } from '#core/json.ts';

/** The clusters of one application in one account: their names, for example `deployment web`, each once. */
export type ApplicationClusters = Omit<DirectoryEntry, 'locations'>;

/** An answer from the cache. Its value is ready for `JSON.stringify`. */
export interface Viewed<T = object> {
  readonly value: T;
  /** The accounts that it depends on: it is as old as the oldest of their caches. */
  readonly accounts: readonly string[];
}

/** An application's page, without Front50's part. What it shows of clusters is its provider's own. */
export type ApplicationPage = Omit<ApplicationPageView, 'clusters'> & {
  readonly clusters: { readonly [account: string]: readonly object[] };
};

/** The members of a cluster that routes read: the rest is its provider's own. */
export interface ClusterPage {
  readonly serverGroups: readonly Pick<ServerGroupView, 'name' | 'region'>[];
  readonly loadBalancers: readonly object[];
}

/** The members of a stage's target server group that routes read. */
export type TargetServerGroup = Pick<ServerGroupView, 'name' | 'buildInfo'> &
  Partial<Pick<ServerGroupView, 'displayName'>>;

/** A list from the cache. */
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

/** Which object to show from the cache because its cluster does not answer. */
export interface CachedManifestRequest extends ViewKey {
  /** Why it cannot be read live: a sentence in plain words. */
  readonly reason: string;
  /** Epoch milliseconds. */
  readonly nowMs: number;
  /** Everything that was so at this time is in the cache, epoch milliseconds; undefined where unknown. */
  readonly asOfMs: number | undefined;
}

/** An object of an account in go-clouddriver's form, without the members that each answer sets itself. */
export type AccountResource = Omit<ProviderResource, 'accountName' | 'taskId' | 'timestamp'>;

/** Which server groups of which applications. */
export interface ServerGroupsRequest {
  readonly applications: readonly string[];
  /** Only those of these clusters, `account:cluster` each; left out, all. */
  readonly clusters?: readonly string[] | undefined;
  /** Whole server groups instead of summaries. */
  readonly expand: boolean;
}

/** Which server group a stage means by a target instead of a name. */
export interface TargetServerGroupRequest extends ClusterKey {
  /** Namespace; undefined for all. */
  readonly location: string | undefined;
  /** In Orca's terms, in any case: `current_asg_dynamic`, `previous` … */
  readonly target: string;
  readonly onlyEnabled: boolean;
  /** Whether `oldest` needs at least two server groups to choose from. */
  readonly validateOldest: boolean;
}

/** Which security groups. Members left out do not restrict them. */
export interface SecurityGroupsRequest {
  readonly account?: string | undefined;
  readonly location?: string | undefined;
  /** Full name: `networkPolicy deny`. */
  readonly name?: string | undefined;
}

/** What to search for: see `GET /search`. */
export interface ViewSearchRequest {
  readonly query: string;
  /** Empty: everything. */
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

/** Views in the cache of configured accounts. Undefined for what does not exist. None of them calls a platform. */
export interface ViewReader {
  /** Every application with its clusters, account by account. */
  listApplications(): Promise<ViewedList<ApplicationClusters>>;
  /** `GET /applications/{application}`, without Front50's part. */
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
  /** Summaries of server groups by their keys; missing ones are left out. */
  listServerGroupsByKeys(keys: readonly ViewKey[]): Promise<ViewedList>;
  findServerGroup(key: ViewKey): Promise<Viewed | undefined>;
  /** @throws InvalidInputError for an unknown target. */
  findTargetServerGroup(request: TargetServerGroupRequest): Promise<Viewed<TargetServerGroup> | undefined>;
  listServerGroupManagers(application: string): Promise<ViewedList>;
  listLoadBalancers(application: string): Promise<ViewedList>;
  findLoadBalancer(key: ViewKey): Promise<Viewed | undefined>;
  /**
   * By account, provider and namespace, down to what the request names: without an account `{account: {provider: {namespace: []}}}`, with
   * an account `{provider: {namespace: []}}`, with an account and a location `{provider: []}`, with a name `{provider: {namespace: []}}`.
   */
  listSecurityGroups(request: SecurityGroupsRequest): Promise<Viewed>;
  findSecurityGroup(key: ViewKey): Promise<Viewed | undefined>;
  findInstance(key: ViewKey): Promise<Viewed | undefined>;
  /** The cached object, in the form of `GET /manifests/…`, with a Warning about it as its first event. */
  findManifest(request: CachedManifestRequest): Promise<Viewed | undefined>;
  listRawResources(application: string): Promise<ViewedList>;
  /** All finds, in a stable order; the caller takes a page of them. */
  search(request: ViewSearchRequest): Promise<ViewedList<FindView>>;
  /** What Spinnaker deployed to an account, of the kinds that Deck shows. */
  listAccountResources(account: string): Promise<readonly AccountResource[]>;
  /** `GET /projects/{project}/clusters`. */
  listProjectClusters(project: ProjectSpec): Promise<ViewedList>;
  /** Details of these accounts that only the cache has, such as the locations of one whose settings name none. */
  listAccountDetails(accounts: readonly string[]): Promise<ReadonlyMap<string, JsonObject>>;
}

/** The views of a cloud provider's accounts. One left out is empty: it has no such resources. */
export type CachedReads = Partial<ViewReader>;

/** Opens views of a cache; shows only accounts that `mayRead` allows. Makes no call. */
export type ViewsOpener = (cache: CacheStore, mayRead: (account: string) => boolean) => Promise<CachedReads>;
