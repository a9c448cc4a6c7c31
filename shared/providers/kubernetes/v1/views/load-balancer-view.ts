import type { V1LoadBalancerView } from '#contract/answers/kubernetes-v1.ts';
import { compareText } from '#core/text-order.ts';
import type { ObjectFacts, ServerGroupFacts } from '../../rows/facts.ts';
import { cloudProvider } from '../../views/resource-view.ts';
import { toLoadBalancerLabel } from '../naming/labels.ts';
import { readService } from '../read/service.ts';
import { getV1HealthState, toV1HealthViews } from './health.ts';
import { formatObjectYaml } from './object-yaml.ts';
import { isV1Disabled, listSecurityGroupsOf } from './server-group-links.ts';

/** A server group behind a load balancer. */
type MemberView = V1LoadBalancerView['serverGroups'][number];

/** The facts that decide which server groups are behind a load balancer. */
interface V1LoadBalancerContext {
  readonly account: string;
  /** Server groups of its namespace, with their pods, of any application. */
  readonly serverGroups: readonly ServerGroupFacts[];
  readonly ingresses: readonly ObjectFacts[];
}

/** A Service with the server groups whose pods are labelled for it. */
export function toV1LoadBalancerView(
  facts: ObjectFacts,
  { account, serverGroups, ingresses }: V1LoadBalancerContext,
): V1LoadBalancerView {
  const { name, namespace, moniker, createdTime, object } = facts;
  const label = toLoadBalancerLabel(name);
  const members = serverGroups.filter((each) => each.facts.namespace === namespace && isBehind(each, label));
  return {
    type: cloudProvider,
    cloudProvider,
    name,
    account,
    region: namespace,
    namespace,
    moniker,
    createdTime,
    serverGroups: members
      .map((member) => toMemberView(member, { account, label }))
      .sort((one, other) => compareText(one.name, other.name)),
    securityGroups: listSecurityGroupsOf(namespace, [name], ingresses),
    description: object === undefined ? {} : readService(object, account),
    ...(object && { service: object, yaml: formatObjectYaml(object) }),
  };
}

/** Whether a server group's template has a label, with any value. */
export function isBehind({ facts }: Pick<ServerGroupFacts, 'facts'>, label: string): boolean {
  return Object.hasOwn(facts.workload?.podLabels ?? {}, label);
}

function toMemberView(
  { facts, instances }: ServerGroupFacts,
  { account, label }: { readonly account: string; readonly label: string },
): MemberView {
  return {
    name: facts.name,
    account,
    region: facts.namespace,
    cloudProvider,
    isDisabled: isV1Disabled(facts),
    instances: instances
      .filter(({ labels }) => labels[label] === 'true')
      .map((pod) => ({
        id: pod.name,
        name: pod.name,
        zone: pod.namespace,
        health: { state: getV1HealthState(toV1HealthViews(pod)) },
      })),
    detachedInstances: instances.filter(({ labels }) => labels[label] === 'false').map(({ name }) => name),
  };
}
