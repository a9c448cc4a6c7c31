import type { ProjectClusterView } from '#contract/answers/projects.ts';
import { parseMoniker } from '#core/frigga.ts';
import { compareText } from '#core/text-order.ts';
import type { ProjectClusterSpec } from '#views/views.ts';
import type { ServerGroupFacts } from '../rows/facts.ts';
import type { ApplicationFacts } from './application-facts.ts';
import { countInstances } from './instance-view.ts';
import { findServiceLinks, isDisabled } from './server-group-links.ts';
import { ServiceIndex } from './service-index.ts';

/** What an application runs in a project's cluster; `lastPush` is 0 if nothing runs. */
type ProjectApplicationView = ProjectClusterView['applications'][number];

/** What an application runs in one namespace. Without data from Jenkins, as here, all images count as the build `0`. */
type ProjectRegionView = ProjectApplicationView['clusters'][number];

/**
 * `GET /projects/{project}/clusters`: for each cluster of a project what its applications run there, by namespace. Disabled server groups
 * and those without pods do not count.
 *
 * @param clusters each with the applications that it is for
 * @param applications the facts of the project's applications; a missing one runs nothing
 */
export function toProjectClusterViews(
  clusters: readonly ProjectClusterSpec[],
  applications: readonly ApplicationFacts[],
): ProjectClusterView[] {
  const facts = new Map(applications.map((each) => [each.application, each]));
  return clusters.map((cluster) => {
    const serving = cluster.applications.map((name) => findServing(facts.get(name), cluster));
    const views = cluster.applications.map((name, index) =>
      toProjectApplicationView(name, serving[index] ?? []),
    );
    const { account, stack, detail } = cluster;
    const instanceCounts = countInstances(serving.flat().flatMap(({ instances }) => instances));
    return { account, stack, detail, applications: views, instanceCounts };
  });
}

function toProjectApplicationView(
  application: string,
  serverGroups: readonly ServerGroupFacts[],
): ProjectApplicationView {
  const regions = Map.groupBy(serverGroups, ({ facts }) => facts.namespace);
  const clusters = [...regions]
    .sort(([one], [other]) => compareText(one, other))
    .map(([region, members]) => toProjectRegionView(region, members));
  return { application, clusters, lastPush: Math.max(0, ...clusters.map(({ lastPush }) => lastPush)) };
}

function toProjectRegionView(region: string, serverGroups: readonly ServerGroupFacts[]): ProjectRegionView {
  const images = serverGroups.flatMap(({ facts }) => facts.workload?.images ?? []);
  const deployed = Math.max(0, ...serverGroups.map(({ facts }) => facts.createdTime ?? 0));
  return {
    region,
    builds: [{ buildNumber: '0', deployed, images: [...new Set(images)] }],
    instanceCounts: countInstances(serverGroups.flatMap(({ instances }) => instances)),
    lastPush: deployed,
  };
}

/** The server groups that run in a project's cluster. */
function findServing(
  facts: ApplicationFacts | undefined,
  cluster: ProjectClusterSpec,
): readonly ServerGroupFacts[] {
  const found = facts?.accounts.find(({ account }) => account === cluster.account);
  if (found === undefined) return [];
  const services = new ServiceIndex(found.namespaceServices);
  return found.serverGroups.filter(
    (serverGroup) =>
      serverGroup.instances.length > 0 &&
      isInCluster(serverGroup, cluster) &&
      !isDisabled(serverGroup.facts, findServiceLinks(serverGroup, services)),
  );
}

/**
 * Stack and detail are read from the cluster's name: a name from Spinnaker, `deployment web`, has neither. As in Clouddriver, a project's
 * empty text matches no cluster's stack.
 */
function isInCluster({ facts }: ServerGroupFacts, { stack, detail }: ProjectClusterSpec): boolean {
  const named = parseMoniker(facts.moniker.cluster ?? '');
  return isPartWanted(named.stack, stack) && isPartWanted(named.detail, detail);
}

function isPartWanted(part: string | undefined, wanted: string | undefined): boolean {
  return wanted === '*' || wanted === (part || undefined);
}
