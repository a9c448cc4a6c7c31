import type { ApplicationPageView } from '#contract/answers/applications.ts';
import type { ClusterNamesView, ClusterView } from '#contract/answers/clusters.ts';
import type { ApplicationClusters, ClusterKey, ProjectSpec, Viewed, ViewedList } from '#views/views.ts';
import {
  toApplicationDetailView,
  toClusterNamesView,
  toClusterSummaryViews,
  toClusterView,
} from '../views/cluster-view.ts';
import { toProjectClusterViews } from '../views/project-cluster-view.ts';
import type { CacheReading } from './cache-reading.ts';
import { listAllPlaces, listClusterPlaces, loadApplication } from './cached-application.ts';

/** The parts of clusters. */
const members = { serverGroups: true, managers: true } as const;

/** See {@link ViewReader.listApplications}. One query: the directory has them. */
export async function listApplications(reading: CacheReading): Promise<ViewedList<ApplicationClusters>> {
  const places = await listAllPlaces(reading);
  const value = places
    .filter(({ clusters }) => clusters.length > 0)
    .map(({ application, account, clusters }) => ({ application, account, clusters }));
  return { value, accounts: reading.session.accounts.map(({ name }) => name) };
}

/** See {@link ViewReader.findApplication}. One query: the directory has its clusters. */
export async function findApplication(
  reading: CacheReading,
  application: string,
): Promise<Viewed<ApplicationPageView> | undefined> {
  const places = await listClusterPlaces(reading, application);
  const value = toApplicationDetailView(application, places);
  return value && { value, accounts: places.map(({ account }) => account) };
}

/** See {@link ViewReader.listClusterNames}. One query: the directory has them. */
export async function listClusterNames(
  reading: CacheReading,
  application: string,
): Promise<Viewed<ClusterNamesView>> {
  const places = await listClusterPlaces(reading, application);
  return { value: toClusterNamesView(places), accounts: places.map(({ account }) => account) };
}

/** See {@link ViewReader.listClusters}. */
export async function listClusters(
  reading: CacheReading,
  application: string,
  account: string,
): Promise<ViewedList> {
  const { facts, accounts } = await loadApplication(reading, application, {
    wanted: { ...members, pods: true, services: true },
    isWanted: (name) => name === account,
  });
  return { value: toClusterSummaryViews(facts, account), accounts };
}

/** See {@link ViewReader.findCluster}. */
export async function findCluster(
  reading: CacheReading,
  { application, account, cluster }: ClusterKey,
  { expand }: { readonly expand: boolean },
): Promise<Viewed<ClusterView> | undefined> {
  const { facts, accounts } = await loadApplication(reading, application, {
    wanted: { ...members, pods: expand, services: expand },
    isWanted: (name) => name === account,
  });
  const value = toClusterView(facts, { account, cluster, expand });
  return value && { value, accounts };
}

/** See {@link ViewReader.listProjectClusters}. Reads each application only in the accounts in which the project has it. */
export async function listProjectClusters(
  reading: CacheReading,
  { applications, clusters }: ProjectSpec,
): Promise<ViewedList> {
  const named = clusters.map((cluster) => ({
    ...cluster,
    applications: cluster.applications.length > 0 ? cluster.applications : applications,
  }));
  const names = [...new Set(named.flatMap((cluster) => cluster.applications))];
  const found = await Promise.all(
    names.map((application) => {
      const own = named.filter((cluster) => cluster.applications.includes(application));
      const accounts = new Set(own.map(({ account }) => account));
      return loadApplication(reading, application, {
        wanted: { serverGroups: true, pods: true, services: true },
        isWanted: (account) => accounts.has(account),
      });
    }),
  );
  const value = toProjectClusterViews(
    named,
    found.map(({ facts }) => facts),
  );
  return { value, accounts: [...new Set(found.flatMap(({ accounts }) => accounts))] };
}
