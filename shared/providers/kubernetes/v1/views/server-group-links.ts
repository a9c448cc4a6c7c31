import { compareText } from '#core/text-order.ts';
import type { ObjectFacts } from '../../rows/facts.ts';
import { isLoadBalancerLabel, listLoadBalancers } from '../naming/labels.ts';

/** The names of the Services that pods of a server group are labelled for, in or out of service, sorted. */
export function listLoadBalancersOf({ workload }: ObjectFacts): string[] {
  return listLoadBalancers(workload?.podLabels ?? {}).sort(compareText);
}

/** The names of the Ingresses of its namespace that lead to one of these Services, sorted. */
export function listSecurityGroupsOf(
  namespace: string,
  loadBalancers: readonly string[],
  ingresses: readonly ObjectFacts[],
): string[] {
  const wanted = new Set(loadBalancers);
  return ingresses
    .filter((each) => each.namespace === namespace && each.ingress?.services.some((name) => wanted.has(name)))
    .map(({ name }) => name)
    .sort(compareText);
}

/**
 * Whether a server group is out of service: it has no pods, none of its load balancers has them, or, if it is behind none, its annotation
 * says so.
 */
export function isV1Disabled({ workload, v1 }: ObjectFacts): boolean {
  if (workload?.replicas === 0) return true;
  const labels = Object.entries(workload?.podLabels ?? {}).filter(([label]) => isLoadBalancerLabel(label));
  if (labels.length === 0) return v1?.isEnabled === false;
  return !labels.some(([, value]) => value === 'true');
}
