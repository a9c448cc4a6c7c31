import { sortByName } from '../../../core/text-order.ts';
import { formatFullName } from '../kinds/name.ts';
import type { ObjectFacts, ServerGroupFacts } from '../rows/facts.ts';
import type { AccountFacts, ApplicationFacts } from './application-facts.ts';
import { type HealthView, toHealthViews } from './instance-view.ts';
import { cloudProvider, type ResourceView, toResourceView } from './resource-view.ts';
import { findServiceLinks, isDisabled } from './server-group-links.ts';
import { indexServices, type ServiceIndex } from './service-index.ts';

/** A pod behind a load balancer. */
export interface LoadBalancerInstanceView {
  /** The uid. */
  readonly id: string;
  /** Full name. */
  readonly name: string;
  /** The namespace. */
  readonly zone: string;
  /** How its last container fares, the pod itself where no container is reported. */
  readonly health: HealthView | { readonly [key: string]: never };
}

/** A server group behind a load balancer. */
export interface LoadBalancerServerGroupView {
  /** Full name. */
  readonly name: string;
  readonly account: string;
  /** The namespace. */
  readonly region: string;
  readonly cloudProvider: typeof cloudProvider;
  readonly isDisabled: boolean;
  readonly detachedInstances: readonly never[];
  readonly instances: readonly LoadBalancerInstanceView[];
}

/** A service or an ingress. */
export interface LoadBalancerView extends ResourceView {
  readonly cloudProvider: typeof cloudProvider;
  readonly type: typeof cloudProvider;
  readonly serverGroups: readonly LoadBalancerServerGroupView[];
}

/** What decides who is behind a load balancer. */
export type LoadBalancerSurroundings = Pick<
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

/** Services and ingresses of one account with the server groups behind them, among those of `surroundings`. */
export function toAccountLoadBalancerViews(
  loadBalancers: readonly ObjectFacts[],
  surroundings: LoadBalancerSurroundings,
): LoadBalancerView[] {
  const { account } = surroundings;
  const members = collectMembers(surroundings);
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

/** The server groups behind a service; behind an ingress those of the services it sends traffic to, each once. */
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
}: LoadBalancerSurroundings): Members {
  const services = indexServices(namespaceServices);
  const members = new Map<string, LoadBalancerServerGroupView[]>();
  for (const serverGroup of [...serverGroups, ...neighbours]) {
    const { facts } = serverGroup;
    const links = findServiceLinks(serverGroup, services);
    for (const { service, instances } of links) {
      const key = toMemberKey(service.namespace, service.name);
      const filed = members.get(key) ?? [];
      members.set(key, filed);
      filed.push({
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
