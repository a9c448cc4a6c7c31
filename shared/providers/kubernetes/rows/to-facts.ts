import type {
  KubernetesObject,
  V1CronJob,
  V1Ingress,
  V1NetworkPolicy,
  V1NetworkPolicyIngressRule,
  V1NetworkPolicyPort,
  V1Pod,
  V1PodSpec,
  V1Service,
  V1StatefulSet,
} from '@kubernetes/client-node';
import { asString } from '#core/json.ts';
import type { Manifest } from '../api/manifest.ts';
import { asUnchecked, readList, type Unchecked, type UncheckedList } from '../api/unchecked.ts';
import type { KindRegistry } from '../kinds/index.ts';
import { formatFullName, parseKind } from '../kinds/name.ts';
import { readLabels, toTextMap } from '../manifest/annotations.ts';
import {
  findReplicas,
  readCreationTimestamp,
  readKind,
  readMoniker,
  readName,
  readNamespace,
  readOwners,
} from '../manifest/identity.ts';
import { readLoadBalancers } from '../manifest/traffic.ts';
import type { ObjectFacts, PodFacts, PortFacts, WorkloadFacts } from './facts.ts';

/**
 * The facts of a live object. Any object has facts: missing and malformed parts count as absent.
 *
 * @param registry the kinds of the object's account: they decide what counts as a server group
 */
export function toFacts(manifest: Manifest, registry: Pick<KindRegistry, 'find'>): ObjectFacts {
  const { apiVersion, metadata } = asUnchecked<KubernetesObject>(manifest);
  const kind = readKind(manifest);
  const { spinnakerKind } = registry.find(kind);
  const createdTime = readCreatedTime(manifest);
  return {
    kind,
    spinnakerKind,
    apiVersion: (asString(apiVersion) ?? '').toLowerCase(),
    namespace: readNamespace(manifest),
    name: readName(manifest),
    uid: asString(metadata?.uid) ?? '',
    resourceVersion: asString(metadata?.resourceVersion) ?? '',
    ...(createdTime !== undefined && { createdTime }),
    labels: readLabels(manifest),
    moniker: readMoniker(manifest),
    owners: readOwners(manifest).map(({ kind, name, uid }) => ({
      kind,
      name,
      uid,
      isManager: registry.find(kind).spinnakerKind === 'serverGroupManagers',
    })),
    ...(spinnakerKind === 'serverGroups' && { workload: readWorkloadFacts(manifest) }),
    ...(kind === 'pod' && { pod: readPodFacts(manifest) }),
    ...(kind === 'service' && {
      service: { selector: toTextMap(asUnchecked<V1Service>(manifest).spec?.selector) },
    }),
    ...(kind === 'ingress' && { ingress: readIngressFacts(manifest) }),
    ...(kind === 'networkPolicy' && { networkPolicy: readNetworkPolicyFacts(manifest) }),
  };
}

/** Epoch milliseconds, to the second, of `metadata.creationTimestamp`. */
function readCreatedTime(manifest: Manifest): number | undefined {
  const time = Date.parse(readCreationTimestamp(manifest));
  return Number.isNaN(time) ? undefined : Math.floor(time / 1000) * 1000;
}

/** Facts of a server group of any kind. The pods of a CronJob are those of its Jobs. */
function readWorkloadFacts(manifest: Manifest): WorkloadFacts {
  const { spec } = asUnchecked<V1StatefulSet>(manifest);
  const replicas = findReplicas(manifest);
  const serviceName = asString(spec?.serviceName);
  const template = spec?.template ?? asUnchecked<V1CronJob>(manifest).spec?.jobTemplate?.spec?.template;
  return {
    ...(replicas !== undefined && { replicas }),
    images: readImages(template?.spec),
    podLabels: toTextMap(template?.metadata?.labels),
    loadBalancers: readAnnotatedLoadBalancers(manifest),
    ...(serviceName && { serviceName }),
  };
}

/** Facts of a pod, by its status. */
function readPodFacts(manifest: Manifest): PodFacts {
  const { status } = asUnchecked<V1Pod>(manifest);
  return {
    phase: asString(status?.phase) ?? '',
    containers: readList(status?.containerStatuses).map((container) => ({
      name: asString(container?.name) ?? '',
      isReady: container?.ready === true,
    })),
  };
}

/** The load balancers of the traffic annotation by their full names, each once, without invalid names. */
function readAnnotatedLoadBalancers(manifest: Manifest): string[] {
  const words = readLoadBalancers(manifest).map((text) => text.split(' '));
  const names = words.map(([kind, name, ...more]) =>
    kind && name && more.length === 0 ? formatFullName(parseKind(kind), name) : undefined,
  );
  return [...new Set(names)].filter((name) => name !== undefined);
}

/** The images of a pod spec, each once. */
function readImages(podSpec: Unchecked<V1PodSpec>): string[] {
  const containers = [...readList(podSpec?.containers), ...readList(podSpec?.initContainers)];
  const images = containers.map((container) => asString(container?.image));
  return [...new Set(images)].filter((image) => image !== undefined);
}

/** Facts of an ingress of `networking.k8s.io/v1`: clusters do not serve older forms. */
function readIngressFacts(manifest: Manifest): NonNullable<ObjectFacts['ingress']> {
  const { spec } = asUnchecked<V1Ingress>(manifest);
  const paths = readList(spec?.rules).flatMap((rule) => readList(rule?.http?.paths));
  const backends = [spec?.defaultBackend, ...paths.map((path) => path?.backend)];
  const names = backends.map((backend) => asString(backend?.service?.name));
  return { services: [...new Set(names)].filter((name) => name !== undefined) };
}

/** Facts of a network policy. The peers of its rules are not kept: no view shows them. */
function readNetworkPolicyFacts(manifest: Manifest): NonNullable<ObjectFacts['networkPolicy']> {
  const { spec } = asUnchecked<V1NetworkPolicy>(manifest);
  return { inbound: readPorts(spec?.ingress), outbound: readPorts(spec?.egress) };
}

/** The ports of all rules, each once. A rule without ports adds none. */
function readPorts(
  rules: UncheckedList<Pick<V1NetworkPolicyIngressRule, 'ports'>> | null | undefined,
): PortFacts[] {
  const ports = readList(rules).flatMap((rule) => readList(rule?.ports));
  return [...new Map(ports.map(readPort).map((port) => [JSON.stringify(port), port])).values()];
}

function readPort(entry: Unchecked<V1NetworkPolicyPort>): PortFacts {
  const protocol = asString(entry?.protocol);
  const port = entry?.port;
  const endPort = entry?.endPort;
  return {
    ...(protocol !== undefined && { protocol }),
    ...((typeof port === 'number' || typeof port === 'string') && { port }),
    ...(typeof endPort === 'number' && { endPort }),
  };
}
