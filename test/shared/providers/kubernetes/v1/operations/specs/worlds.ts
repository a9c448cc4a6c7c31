import { asJsonArray, asJsonObject, getPath, type JsonObject, type JsonValue } from '#core/json.ts';
import type { Manifest } from '#providers/kubernetes/api/manifest.ts';
import { type InvalidContext, refuseBy } from '#test/support/conformance/operation-spec.ts';
import { createManifest } from '../../../manifests.ts';
import type { KubernetesPlace } from '../../../operations/specs/spec.ts';

/** What is wrong with a name. */
export const noName = 'invalid (Must match ^[a-z0-9]+([-a-z0-9]*[a-z0-9])?$)';

/** A ReplicationController as V1 makes it, behind the load balancer `front`. @param loadBalancer the value of its label */
export function createController(
  name: string,
  { replicas, loadBalancer = 'true' }: { readonly replicas: number; readonly loadBalancer?: string },
): Manifest {
  const labels = { 'replication-controller': name, 'load-balancer-front': loadBalancer };
  const template = {
    metadata: { labels },
    spec: { containers: [{ name: 'web', image: 'registry.test/web:1' }] },
  };
  const selector = { 'replication-controller': name };
  return createManifest('v1', 'ReplicationController', {
    name,
    more: { spec: { replicas, selector, template } },
  });
}

/** A ReplicaSet as V1 makes it, behind the load balancer `front`. */
export function createReplicaSet(name: string, replicas: number): Manifest {
  const labels = { [name]: 'true', 'replication-controller': name };
  const template = {
    metadata: { labels: { ...labels, 'load-balancer-front': 'true' } },
    spec: { containers: [{ name: 'web', image: 'registry.test/web:1' }] },
  };
  return createManifest('apps/v1', 'ReplicaSet', {
    name,
    more: { spec: { replicas, selector: { matchLabels: labels }, template } },
  });
}

/** A pod of nobody, which runs one container, and ends at once. */
export function createPod(name: string, labels: JsonObject = {}): Manifest {
  const containers = [{ name: 'web', image: 'registry.test/web:1' }];
  return createManifest('v1', 'Pod', {
    name,
    labels,
    more: { spec: { terminationGracePeriodSeconds: 0, containers } },
  });
}

/** An autoscaler of the ReplicationController of its name. */
export function createAutoscaler(name: string): Manifest {
  const scaleTargetRef = { apiVersion: 'v1', kind: 'ReplicationController', name };
  return createManifest('autoscaling/v2', 'HorizontalPodAutoscaler', {
    name,
    more: { spec: { minReplicas: 1, maxReplicas: 2, scaleTargetRef } },
  });
}

/** Contexts that are wrong for every operation of V1 accounts. */
export function listBadAccounts(operation: string): InvalidContext[] {
  return [refuseBy(operation, ': ')({ account: ['planted'] }, 'account', 'expected a string, got a list')];
}

/** Contexts that are wrong for every operation on one server group. */
export function listBadServerGroups(operation: string, prefix: string): InvalidContext[] {
  return [
    ...listBadAccounts(operation),
    refuseBy(prefix)({ serverGroupName: null }, 'serverGroupName'),
    refuseBy(prefix)({ serverGroupName: 'Kub' }, 'serverGroupName', noName),
    ...listBadNamespaces(operation, prefix),
  ];
}

/** Contexts that are wrong for every operation that acts in one namespace. */
export function listBadNamespaces(operation: string, prefix: string): InvalidContext[] {
  return [
    refuseBy(prefix)({ namespace: 'a/b' }, 'namespace', noName),
    refuseBy(operation, ': ')({ namespace: ['planted'] }, 'namespace', 'expected a string, got a list'),
  ];
}

/** The error for an account that may not use the place. */
export function formatOutside(prefix: string): string {
  return `${prefix}.namespace.notRegistered`;
}

/** Whether the server group and its pods are behind the load balancer `front`, and what the annotation says. */
export async function lookAtService({ findLive, listItems }: KubernetesPlace): Promise<JsonValue> {
  const live = await findLive('replicationcontrollers/kub-test-v000');
  const pods = (await listItems('pods')).map((pod) => readFront(pod));
  return {
    enabled: getPath(live, 'metadata', 'annotations', 'service.spinnaker.io/enabled') ?? null,
    template: readFront(getPath(live, 'spec', 'template')),
    pods: pods.toSorted(),
  };
}

/** The names of all that a server group is made of, by kind. */
export async function lookAtNames({ listNames }: KubernetesPlace): Promise<JsonValue> {
  const plurals = ['replicationcontrollers', 'replicasets', 'deployments', 'horizontalpodautoscalers'];
  const names = await Promise.all(plurals.map((plural) => listNames(plural)));
  return Object.fromEntries(plurals.map((plural, index) => [plural, names[index] ?? []]));
}

/** The labels of an object, without those that the API server gives a pod when it knows its node. */
export function readOwnLabels(object: JsonValue | undefined): JsonObject {
  const labels = Object.entries(asJsonObject(getPath(object, 'metadata', 'labels')) ?? {});
  return Object.fromEntries(labels.filter(([label]) => !label.startsWith('topology.kubernetes.io/')));
}

/** A controller's own choice of spec: what the API server adds is left out. */
export function readContainers(controller: JsonObject | undefined): JsonValue {
  return asJsonArray(getPath(controller, 'spec', 'template', 'spec', 'containers')).map((container) => {
    const { name = null, image = null } = asJsonObject(container) ?? {};
    return { name, image };
  });
}

function readFront(object: JsonValue | undefined): string {
  return String(getPath(object, 'metadata', 'labels', 'load-balancer-front') ?? 'none');
}
