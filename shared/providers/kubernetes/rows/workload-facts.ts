import type { V1CronJob, V1Pod, V1PodSpec, V1StatefulSet } from '@kubernetes/client-node';
import { asString } from '#core/json.ts';
import type { Manifest } from '../api/manifest.ts';
import { asUnchecked, readList, type Unchecked } from '../api/unchecked.ts';
import { formatFullName, parseKind } from '../kinds/name.ts';
import { toTextMap } from '../manifest/annotations.ts';
import { findReplicas } from '../manifest/identity.ts';
import { readLoadBalancers } from '../manifest/traffic.ts';
import type { PodFacts, WorkloadFacts } from './facts.ts';

/** Facts of a server group of any kind. The pods of a CronJob are those of its Jobs. */
export function readWorkloadFacts(manifest: Manifest): WorkloadFacts {
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
export function readPodFacts(manifest: Manifest): PodFacts {
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
