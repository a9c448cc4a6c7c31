import type { Moniker } from '../../../core/moniker.ts';
import { compareText } from '../../../core/text-order.ts';
import { formatFullName } from '../kinds/name.ts';
import type { TextMap } from '../manifest/annotations.ts';
import type { ObjectFacts, ServerGroupFacts } from '../rows/facts.ts';
import type { ApplicationFacts } from './application-facts.ts';
import {
  countInstances,
  type InstanceCountsView,
  type InstanceSummaryView,
  type InstanceView,
  toInstanceSummaryView,
  toInstanceView,
} from './instance-view.ts';
import { cloudProvider, type ResourceView, toResourceView } from './resource-view.ts';
import { findServiceLinks, isDisabled } from './server-group-links.ts';
import { indexServices, type ServiceIndex } from './service-index.ts';

/** The manager of a server group. */
export interface ManagerReferenceView {
  readonly account: string;
  /** The namespace. */
  readonly location: string;
  /** Its own name, without the kind. */
  readonly name: string;
}

/** How large a server group is meant to be. */
export interface CapacityView {
  /** `spec.replicas`; 0 where the kind has none. */
  readonly desired: number;
  readonly pinned: false;
}

/** The images that a server group runs. */
export interface BuildInfoView {
  readonly images: readonly string[];
}

/** What both forms of a server group show. */
interface ServerGroupCore {
  readonly type: typeof cloudProvider;
  readonly cloudProvider: typeof cloudProvider;
  readonly capacity: CapacityView;
  readonly instanceCounts: InstanceCountsView;
  /** Full names of the services it is behind, and of those its traffic annotation names. */
  readonly loadBalancers: readonly string[];
  readonly serverGroupManagers: readonly ManagerReferenceView[];
  readonly buildInfo: BuildInfoView;
  readonly securityGroups: readonly never[];
}

/** A server group with all that is shown of it. */
export interface ServerGroupView extends ResourceView, ServerGroupCore {
  readonly disabled: boolean;
  readonly instances: readonly InstanceView[];
  readonly zones: readonly never[];
  readonly launchConfig: { readonly [key: string]: never };
}

/** A server group in the list with `expand=true`. */
export interface ExpandedServerGroupView extends ServerGroupView {
  /** The account again. */
  readonly accountName: string;
  readonly cluster?: string | undefined;
  readonly application?: string | undefined;
}

/** A server group in the list that Deck's clusters page loads. */
export interface ServerGroupSummaryView extends ServerGroupCore {
  /** Full name: `replicaSet web-v003`. */
  readonly name: string;
  readonly account: string;
  /** The namespace. */
  readonly region: string;
  readonly cluster?: string | undefined;
  readonly isDisabled: boolean;
  readonly moniker: Moniker;
  /** Epoch milliseconds. */
  readonly createdTime?: number | undefined;
  /** Absent when there are none. */
  readonly labels?: TextMap | undefined;
  readonly instances: readonly InstanceSummaryView[];
}

/** Where a server group stands. */
export interface ServerGroupSurroundings {
  readonly account: string;
  readonly services: ServiceIndex;
}

/** The application's server groups as summaries, account by account. */
export function toServerGroupSummaryViews({ accounts }: ApplicationFacts): ServerGroupSummaryView[] {
  return accounts.flatMap(({ account, serverGroups, namespaceServices }) => {
    const surroundings = { account, services: indexServices(namespaceServices) };
    return serverGroups.map((serverGroup) => toServerGroupSummaryView(serverGroup, surroundings));
  });
}

/** The application's server groups with everything, account by account. */
export function toExpandedServerGroupViews({ accounts }: ApplicationFacts): ExpandedServerGroupView[] {
  return accounts.flatMap(({ account, serverGroups, namespaceServices }) => {
    const surroundings = { account, services: indexServices(namespaceServices) };
    return serverGroups.map((serverGroup) => {
      const { app: application, cluster } = serverGroup.facts.moniker;
      return { ...toServerGroupView(serverGroup, surroundings), accountName: account, cluster, application };
    });
  });
}

/** A server group with everything. */
export function toServerGroupView(
  serverGroup: ServerGroupFacts,
  surroundings: ServerGroupSurroundings,
): ServerGroupView {
  const { facts, instances } = serverGroup;
  const { account } = surroundings;
  const { disabled, core } = createCore(serverGroup, surroundings);
  return {
    ...toResourceView(account, facts),
    ...core,
    disabled,
    instances: instances.map((instance) => toInstanceView(account, instance)),
    zones: [],
    launchConfig: {},
  };
}

/** A server group with what lists show. */
export function toServerGroupSummaryView(
  serverGroup: ServerGroupFacts,
  surroundings: ServerGroupSurroundings,
): ServerGroupSummaryView {
  const { facts, instances } = serverGroup;
  const { disabled, core } = createCore(serverGroup, surroundings);
  return {
    name: formatFullName(facts.kind, facts.name),
    account: surroundings.account,
    region: facts.namespace,
    cluster: facts.moniker.cluster,
    ...core,
    isDisabled: disabled,
    moniker: facts.moniker,
    createdTime: facts.createdTime,
    labels: Object.keys(facts.labels).length > 0 ? facts.labels : undefined,
    instances: instances.map(toInstanceSummaryView),
  };
}

function createCore(
  serverGroup: ServerGroupFacts,
  { account, services }: ServerGroupSurroundings,
): { readonly disabled: boolean; readonly core: ServerGroupCore } {
  const { facts, instances } = serverGroup;
  const { workload } = facts;
  const links = findServiceLinks(serverGroup, services);
  const names = links.map(({ service }) => formatFullName(service.kind, service.name));
  const core = {
    type: cloudProvider,
    cloudProvider,
    capacity: { desired: workload?.replicas ?? 0, pinned: false },
    instanceCounts: countInstances(instances),
    loadBalancers: [...new Set([...names, ...(workload?.loadBalancers ?? [])])].sort(compareText),
    serverGroupManagers: toManagerReferences(account, facts),
    buildInfo: { images: workload?.images ?? [] },
    securityGroups: [],
  } as const;
  return { disabled: isDisabled(facts, links), core };
}

function toManagerReferences(account: string, { owners, namespace }: ObjectFacts): ManagerReferenceView[] {
  return owners
    .filter(({ isManager }) => isManager)
    .map(({ name }) => ({ account, location: namespace, name }));
}
