import type { ResourceView } from '#contract/answers/resources.ts';
import type {
  ExpandedServerGroupView,
  ServerGroupSummaryView,
  ServerGroupView,
} from '#contract/answers/server-groups.ts';
import { compareText } from '#core/text-order.ts';
import { formatFullName } from '../kinds/name.ts';
import type { ObjectFacts, ServerGroupFacts } from '../rows/facts.ts';
import type { ApplicationFacts } from './application-facts.ts';
import { countInstances, toInstanceSummaryView, toInstanceView } from './instance-view.ts';
import { cloudProvider, toResourceView } from './resource-view.ts';
import { findServiceLinks, isDisabled } from './server-group-links.ts';
import { ServiceIndex } from './service-index.ts';

/** What both forms of a server group show. */
type ServerGroupCore = Omit<
  ServerGroupView,
  keyof ResourceView | 'disabled' | 'instances' | 'zones' | 'launchConfig'
>;

/** The surroundings of a server group. */
export interface ServerGroupContext {
  readonly account: string;
  readonly services: ServiceIndex;
}

/** The application's server groups as summaries, account by account. */
export function toServerGroupSummaryViews(facts: ApplicationFacts): ServerGroupSummaryView[] {
  return toViews(facts, toServerGroupSummaryView);
}

/** The application's server groups with all details, account by account. */
export function toExpandedServerGroupViews(facts: ApplicationFacts): ExpandedServerGroupView[] {
  return toViews(facts, (serverGroup, context) => {
    const { app: application, cluster } = serverGroup.facts.moniker;
    const { account: accountName } = context;
    return { ...toServerGroupView(serverGroup, context), accountName, cluster, application };
  });
}

function toViews<View>(
  { accounts }: ApplicationFacts,
  toView: (serverGroup: ServerGroupFacts, context: ServerGroupContext) => View,
): View[] {
  return accounts.flatMap(({ account, serverGroups, namespaceServices }) => {
    const context = { account, services: new ServiceIndex(namespaceServices) };
    return serverGroups.map((serverGroup) => toView(serverGroup, context));
  });
}

/** A server group with all details. */
export function toServerGroupView(
  serverGroup: ServerGroupFacts,
  context: ServerGroupContext,
): ServerGroupView {
  const { facts, instances } = serverGroup;
  const { account } = context;
  const { disabled, core } = createCore(serverGroup, context);
  return {
    ...toResourceView(account, facts),
    ...core,
    disabled,
    instances: instances.map((instance) => toInstanceView(account, instance)),
    zones: [],
    launchConfig: {},
  };
}

/** A server group as lists show it. */
export function toServerGroupSummaryView(
  serverGroup: ServerGroupFacts,
  context: ServerGroupContext,
): ServerGroupSummaryView {
  const { facts, instances } = serverGroup;
  const { disabled, core } = createCore(serverGroup, context);
  return {
    name: formatFullName(facts.kind, facts.name),
    account: context.account,
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
  { account, services }: ServerGroupContext,
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

function toManagerReferences(
  account: string,
  { owners, namespace }: ObjectFacts,
): ServerGroupCore['serverGroupManagers'] {
  return owners
    .filter(({ isManager }) => isManager)
    .map(({ name }) => ({ account, location: namespace, name }));
}
