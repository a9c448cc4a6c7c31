import type { V1Service } from '@kubernetes/client-node';
import { asJsonObject } from '#core/json.ts';
import type { Manifest } from '../../api/manifest.ts';
import { type LoadBalancerDescription, readLoadBalancerName } from '../descriptions/load-balancer.ts';
import { toLoadBalancerLabel } from '../naming/labels.ts';
import { findMembers, finishDraft } from './draft.ts';

/**
 * The Service of a load balancer: it selects the pods that are labelled as being behind it. Omitted fields are those of the existing
 * Service.
 *
 * @param live the existing Service; undefined if there is none
 */
export function buildService(
  description: LoadBalancerDescription,
  namespace: string,
  live?: Manifest,
): Manifest {
  const name = readLoadBalancerName(description);
  const { serviceAnnotations, serviceLabels } = description;
  const made = finishDraft<V1Service>({
    metadata: {
      name,
      namespace,
      annotations: serviceAnnotations && findMembers(serviceAnnotations),
      labels: serviceLabels && findMembers(serviceLabels),
    },
    spec: {
      selector: { [toLoadBalancerLabel(name)]: 'true' },
      ports: description.ports?.map(({ name: port, protocol, ...numbers }) => ({
        name: port,
        protocol,
        port: numbers.port || undefined,
        targetPort: numbers.targetPort || undefined,
        nodePort: numbers.nodePort || undefined,
      })),
      externalIPs: description.externalIps,
      clusterIP: description.clusterIp || undefined,
      loadBalancerIP: description.loadBalancerIp || undefined,
      sessionAffinity: description.sessionAffinity || undefined,
      type: description.serviceType || undefined,
    },
  });
  return {
    ...live,
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { ...asJsonObject(live?.['metadata']), ...asJsonObject(made['metadata']) },
    spec: { ...asJsonObject(live?.['spec']), ...asJsonObject(made['spec']) },
  };
}
