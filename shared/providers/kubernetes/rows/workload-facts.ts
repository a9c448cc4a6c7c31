import { asJsonArray, asString, getPath, type JsonValue } from '../../../core/json.ts';
import type { Manifest } from '../api/manifest.ts';
import { formatFullName, parseKind } from '../kinds/name.ts';
import { toTextMap } from '../manifest/annotations.ts';
import { findReplicas } from '../manifest/identity.ts';
import { readLoadBalancers } from '../manifest/traffic.ts';
import type { PodFacts, WorkloadFacts } from './facts.ts';

/** What is particular to a server group, whatever its kind. The pods of a CronJob are those of the Jobs it makes. */
export function readWorkloadFacts(manifest: Manifest): WorkloadFacts {
  const replicas = findReplicas(manifest);
  const serviceName = asString(getPath(manifest, 'spec', 'serviceName'));
  const template =
    getPath(manifest, 'spec', 'template') ?? getPath(manifest, 'spec', 'jobTemplate', 'spec', 'template');
  return {
    ...(replicas !== undefined && { replicas }),
    images: readImages(getPath(template, 'spec')),
    podLabels: toTextMap(getPath(template, 'metadata', 'labels')),
    loadBalancers: readAnnotatedLoadBalancers(manifest),
    ...(serviceName && { serviceName }),
  };
}

/** How a pod fares, by its status. */
export function readPodFacts(manifest: Manifest): PodFacts {
  return {
    phase: asString(getPath(manifest, 'status', 'phase')) ?? '',
    containers: asJsonArray(getPath(manifest, 'status', 'containerStatuses')).map((status) => ({
      name: asString(getPath(status, 'name')) ?? '',
      isReady: getPath(status, 'ready') === true,
    })),
  };
}

/** The load balancers of the traffic annotation by their full names, each once; what is no such name is left out. */
function readAnnotatedLoadBalancers(manifest: Manifest): string[] {
  const words = readLoadBalancers(manifest).map((text) => text.split(' '));
  const names = words.map(([kind, name, ...more]) =>
    kind && name && more.length === 0 ? formatFullName(parseKind(kind), name) : undefined,
  );
  return [...new Set(names)].filter((name) => name !== undefined);
}

/** The images of a pod spec, each once. */
function readImages(podSpec: JsonValue | undefined): string[] {
  const containers = ['containers', 'initContainers'].flatMap((list) => asJsonArray(getPath(podSpec, list)));
  const images = containers.map((container) => asString(getPath(container, 'image')));
  return [...new Set(images)].filter((image) => image !== undefined);
}
