import type { V1Service } from '@kubernetes/client-node';
import { FailedOperationError } from '#core/errors.ts';
import type { KubernetesClient } from '../../api/client.ts';
import type { Manifest } from '../../api/manifest.ts';
import { asUnchecked } from '../../api/unchecked.ts';
import { formatFullName } from '../../kinds/name.ts';
import type { Coordinates } from '../../manifest/identity.ts';

/**
 * The parts of a live load balancer that are needed to attach workloads: its coordinates, and what it selects.
 *
 * @throws FailedOperationError if there is none.
 */
export async function getLoadBalancer(
  { kind, namespace, name }: Coordinates,
  { client, signal }: { readonly client: KubernetesClient; readonly signal: AbortSignal },
): Promise<Manifest> {
  const resource = await client.getResourceOfKind(kind, { signal });
  const live = await client.get({ resource, namespace, name }, { signal });
  if (live === undefined) {
    const where = namespace === '' ? '' : ` in namespace ${namespace}`;
    throw new FailedOperationError(`Load balancer ${formatFullName(kind, name)} was not found${where}`);
  }
  return {
    apiVersion: resource.apiVersion,
    kind: resource.kind,
    metadata: { namespace, name },
    spec: { selector: asUnchecked<V1Service>(live).spec?.selector ?? null },
  };
}
