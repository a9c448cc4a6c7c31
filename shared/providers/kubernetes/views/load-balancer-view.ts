import type { LoadBalancerView } from '#contract/answers/resources.ts';
import { getOrAdd } from '#core/get-or-add.ts';
import { sortByName } from '#core/text-order.ts';
import { formatFullName } from '../kinds/name.ts';
import type { ObjectFacts, ServerGroupFacts } from '../rows/facts.ts';
import type { AccountFacts, ApplicationFacts } from './application-facts.ts';
import { toHealthViews } from './instance-view.ts';
import { cloudProvider, toResourceView } from './resource-view.ts';
import { findServiceLinks, isDisabled } from './server-group-links.ts';
import { ServiceIndex } from './service-index.ts';

/** A server group behind a load balancer. */
type LoadBalancerServerGroupView = LoadBalancerView['serverGroups'][number];

/** A pod behind a load balancer. Its health is that of its last container, or the pod's own if no container is reported. */
type LoadBalancerInstanceView = LoadBalancerServerGroupView['instances'][number];

/** The facts that decide which server groups are behind a load balancer. */
export type LoadBalancerContext = Pick<
  AccountFacts,
  'account' | 'serverGroups' | 'neighbours' | 'namespaceServices'
>;

/** Server groups by the service they are behind. */
type Members = ReadonlyMap<string, readonly LoadBalancerServerGroupView[]>;

/** The application's services and ingresses, sorted by name. */
export function toLoadBalancerViews({ accounts }: ApplicationFacts): LoadBalancerView[] {
  const views = accounts.flatMap((account) => toAccountLoadBalancerViews(account.loadBalancers, account));
  return sortByName(views);
}

/** Services and ingresses of one account with the server groups behind them, among those of `context`. */
export function toAccountLoadBalancerViews(
  loadBalancers: readonly ObjectFacts[],
  context: LoadBalancerContext,
): LoadBalancerView[] {
  const { account } = context;
  const members = collectMembers(context);
  return loadBalancers.map((facts) => ({
    ...toResourceView(account, facts),
    cloudProvider,
    type: cloudProvider,
    serverGroups: listMembers(facts, members),
  }));
}

/** The services that one of the server groups is behind, each once. */
export function findServicesOf(
  serverGroups: readonly ServerGroupFacts[],
  services: ServiceIndex,
): ObjectFacts[] {
  const found = serverGroups.flatMap((serverGroup) => findServiceLinks(serverGroup, services));
  return [...new Set(found.map(({ service }) => service))];
}

/** The server groups behind a service; behind an ingress, those of the services that it sends traffic to, each once. */
function listMembers(
  { namespace, name, ingress }: ObjectFacts,
  members: Members,
): LoadBalancerServerGroupView[] {
  const names = ingress?.services ?? [name];
  const found = names.flatMap((service) => members.get(toMemberKey(namespace, service)) ?? []);
  return [...new Map(found.map((member) => [member.name, member])).values()];
}

/** The server groups behind each service. */
function collectMembers({
  account,
  serverGroups,
  neighbours,
  namespaceServices,
}: LoadBalancerContext): Members {
  const services = new ServiceIndex(namespaceServices);
  const members = new Map<string, LoadBalancerServerGroupView[]>();
  for (const serverGroup of [...serverGroups, ...neighbours]) {
    const { facts } = serverGroup;
    const links = findServiceLinks(serverGroup, services);
    for (const { service, instances } of links) {
      const key = toMemberKey(service.namespace, service.name);
      getOrAdd(members, key, () => []).push({
        name: formatFullName(facts.kind, facts.name),
        account,
        region: facts.namespace,
        cloudProvider,
        isDisabled: isDisabled(facts, links),
        detachedInstances: [],
        instances: instances.map(toLoadBalancerInstanceView),
      });
    }
  }
  return members;
}

function toLoadBalancerInstanceView(instance: ObjectFacts): LoadBalancerInstanceView {
  return {
    id: instance.uid,
    name: formatFullName(instance.kind, instance.name),
    zone: instance.namespace,
    health: toHealthViews(instance).at(-1) ?? {},
  };
}

/** No part of it holds a space. */
function toMemberKey(namespace: string, service: string): string {
  return `${namespace} ${service}`;
}
