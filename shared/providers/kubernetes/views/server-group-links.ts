import type { ObjectFacts, ServerGroupFacts } from '../rows/facts.ts';
import { isSameTextMap } from '../rows/facts-codec.ts';
import { isSelecting, type ServiceIndex } from './service-index.ts';

/** A service and the pods of one server group that are behind it. */
export interface ServiceLink {
  readonly service: ObjectFacts;
  /** Whether the service selects the pods; one that governs a StatefulSet may only name them. */
  readonly isSelecting: boolean;
  readonly instances: readonly ObjectFacts[];
}

/**
 * The services that a server group is behind: those that select its pod template or one of its pods, and the one that governs it, each
 * once.
 *
 * Pods count in addition to the template because they get labels in other ways, too: a StatefulSet labels each with its name, an operator
 * marks the leader.
 */
export function findServiceLinks(
  { facts, instances }: ServerGroupFacts,
  services: ServiceIndex,
): readonly ServiceLink[] {
  const { namespace, workload } = facts;
  const found: ObjectFacts[] = [];
  let latest = workload?.podLabels ?? {};
  services.addSelecting(found, namespace, latest);
  for (const { labels } of instances) {
    // Most pods have the same labels as their template and each other: these need no further check.
    if (labels === latest || isSameTextMap(labels, latest)) continue;
    latest = labels;
    services.addSelecting(found, namespace, labels);
  }
  const links = found.map((service) => toLink(service, instances));
  const { serviceName } = workload ?? {};
  const governing = serviceName === undefined ? undefined : services.find(namespace, serviceName);
  if (governing === undefined || found.includes(governing)) return links;
  return [...links, { service: governing, isSelecting: false, instances }];
}

/**
 * Whether a server group gets no traffic although it should: it is annotated with load balancers, and no service selects it.
 * That is how Spinnaker's traffic management disables one.
 */
export function isDisabled({ workload }: ObjectFacts, links: readonly ServiceLink[]): boolean {
  return (workload?.loadBalancers.length ?? 0) > 0 && !links.some((link) => link.isSelecting);
}

function toLink(service: ObjectFacts, instances: readonly ObjectFacts[]): ServiceLink {
  return {
    service,
    isSelecting: true,
    instances: instances.filter(({ labels }) => isSelecting(service, labels)),
  };
}
