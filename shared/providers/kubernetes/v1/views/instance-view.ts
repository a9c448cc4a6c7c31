import type { V1InstanceSummaryView, V1InstanceView } from '#contract/answers/kubernetes-v1.ts';
import { compareText } from '#core/text-order.ts';
import type { ObjectFacts } from '../../rows/facts.ts';
import { cloudProvider } from '../../views/resource-view.ts';
import { listLoadBalancers } from '../naming/labels.ts';
import { getV1HealthState, toV1HealthViews } from './health.ts';
import { formatObjectYaml } from './object-yaml.ts';

/** A pod as lists of server groups show it. */
export function toV1InstanceSummaryView(facts: ObjectFacts): V1InstanceSummaryView {
  const health = toV1HealthViews(facts);
  const { name, namespace, v1 } = facts;
  return {
    id: name,
    name,
    healthState: getV1HealthState(health),
    zone: namespace,
    availabilityZone: namespace,
    launchTime: v1?.pod?.startedMs,
    health,
  };
}

/** A pod with all details. */
export function toV1InstanceView(account: string, facts: ObjectFacts): V1InstanceView {
  const { name, namespace, moniker, owners, labels, v1, object } = facts;
  const [owner] = owners;
  const health = toV1HealthViews(facts);
  return {
    type: cloudProvider,
    cloudProvider,
    providerType: cloudProvider,
    name,
    instanceId: name,
    account,
    location: namespace,
    zone: namespace,
    moniker,
    launchTime: v1?.pod?.startedMs,
    ...(owner && { controllerName: owner.name, controllerKind: toKubernetesKind(owner.kind) }),
    healthState: getV1HealthState(health),
    health,
    loadBalancers: listLoadBalancers(labels).sort(compareText),
    ...(object && { pod: object, yaml: formatObjectYaml(object) }),
  };
}

/** Kubernetes' spelling of a kind: `ReplicaSet` for `replicaSet`. */
export function toKubernetesKind(kind: string): string {
  return kind.charAt(0).toUpperCase() + kind.slice(1);
}
