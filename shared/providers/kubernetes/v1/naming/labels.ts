import { parseServerGroupName } from '#core/frigga.ts';

const loadBalancerPrefix = 'load-balancer-';

/** Label of a pod and selector of a ReplicationController: the name of the server group. */
export const replicationControllerLabel = 'replication-controller';
/** Annotation of a server group: whether it is in service, for one that is behind no load balancer. */
export const enabledAnnotation = 'service.spinnaker.io/enabled';

/** The label that says whether a pod is behind a load balancer: `"true"`, or `"false"` while it is out of service. */
export function toLoadBalancerLabel(loadBalancer: string): string {
  return loadBalancerPrefix + loadBalancer;
}

/** Whether a label is of that form for any load balancer. */
export function isLoadBalancerLabel(label: string): boolean {
  return label.startsWith(loadBalancerPrefix);
}

/** The load balancers that labels name, in or out of service. */
export function listLoadBalancers(labels: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(labels)
    .filter(isLoadBalancerLabel)
    .map((label) => label.slice(loadBalancerPrefix.length));
}

/** Labels of a pod that put it behind load balancers. */
export function createLoadBalancerLabels(loadBalancers: readonly string[]): Record<string, string> {
  return Object.fromEntries(loadBalancers.map((name) => [toLoadBalancerLabel(name), 'true']));
}

/**
 * Labels by which a ReplicaSet, or a Deployment, selects its pods.
 *
 * @param serverGroup name of the server group, from which the other labels are read
 * @param owner name used as a separate label: the server group's, or its cluster's if a Deployment creates the pods
 */
export function createSelectorLabels(serverGroup: string, owner: string): Record<string, string> {
  const { app, cluster, stack, detail, sequence } = parseServerGroupName(serverGroup);
  return {
    [owner]: 'true',
    version: sequence === undefined ? 'na' : String(sequence),
    ...(app !== undefined && { app }),
    ...(cluster !== undefined && { cluster }),
    ...(stack !== undefined && { stack }),
    ...(detail !== undefined && { detail }),
    [replicationControllerLabel]: serverGroup,
  };
}

/** Labels by which a StatefulSet or DaemonSet selects its pods, as in Clouddriver's `KubernetesClientApiConverter.genericLabels`. */
export function createSetLabels({
  app,
  name,
  namespace,
}: {
  readonly app: string;
  readonly name: string;
  readonly namespace: string;
}): Record<string, string> {
  return { app, cluster: name, namespace };
}
