import type {
  V1ObjectMeta,
  V1PodTemplateSpec,
  V1ReplicaSet,
  V1ReplicationController,
} from '@kubernetes/client-node';
import { parseServerGroupName } from '#core/frigga.ts';
import type { Manifest } from '../../api/manifest.ts';
import type { DeployDescription } from '../descriptions/server-group.ts';
import {
  createLoadBalancerLabels,
  createSelectorLabels,
  replicationControllerLabel,
} from '../naming/labels.ts';
import { type Draft, findMembers, finishDraft } from './draft.ts';
import { buildPodSpec, type PodOptions } from './pod.ts';

/** A server group to be created. */
export interface ServerGroupPlan extends PodOptions {
  readonly name: string;
  readonly namespace: string;
  readonly replicas: number;
  readonly description: DeployDescription;
  /** Annotations that Busdriver needs on the controller. */
  readonly annotations: Readonly<Record<string, string>>;
}

/** A ReplicationController, which selects its pods by a single label. @throws FailedOperationError when an image has no repository. */
export function buildReplicationController(plan: ServerGroupPlan): Manifest {
  const { name, replicas, description } = plan;
  const selector = { [replicationControllerLabel]: name };
  return finishDraft<V1ReplicationController>({
    apiVersion: 'v1',
    kind: 'ReplicationController',
    metadata: buildMetadata(plan, description.controllerAnnotations),
    spec: { replicas, selector, template: buildTemplate(plan, selector) },
  });
}

/**
 * A ReplicaSet. If a Deployment will create its pods, it has the Deployment's label and starts without pods.
 *
 * @throws FailedOperationError when an image has no repository.
 */
export function buildReplicaSet(plan: ServerGroupPlan): Manifest {
  const { name, replicas, description } = plan;
  const isDeployed = description.deployment?.enabled === true;
  const matchLabels = createSelectorLabels(name, isDeployed ? getClusterName(name) : name);
  return finishDraft<V1ReplicaSet>({
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { ...buildMetadata(plan, description.replicaSetAnnotations), labels: matchLabels },
    spec: {
      replicas: isDeployed ? 0 : replicas,
      selector: { matchLabels },
      template: buildTemplate(plan, matchLabels),
    },
  });
}

/** The pods of a server group: with the labels of its selector, and behind its load balancers. */
export function buildTemplate(
  plan: ServerGroupPlan,
  labels: Readonly<Record<string, string>>,
): Draft<V1PodTemplateSpec> {
  const { description } = plan;
  return {
    metadata: {
      labels: { ...labels, ...createLoadBalancerLabels(description.loadBalancers ?? []) },
      annotations: findMembers(description.podAnnotations),
    },
    spec: buildPodSpec(description, plan),
  };
}

/** The name of the cluster that a server group belongs to: its own name if that does not follow the convention. */
export function getClusterName(serverGroup: string): string {
  return parseServerGroupName(serverGroup).cluster ?? serverGroup;
}

/** The metadata of a server group, with its own annotations. */
export function buildMetadata(
  { name, namespace, annotations }: ServerGroupPlan,
  own: Readonly<Record<string, string>>,
): Draft<V1ObjectMeta> {
  return { name, namespace, annotations: findMembers({ ...own, ...annotations }) };
}
