import { asString } from '../../../core/json.ts';
import { compareText } from '../../../core/text-order.ts';
import { OutOfBoundsError } from '../account/account-bounds.ts';
import type { ApiResource, CallOptions, KubernetesClient, ObjectRef } from '../api/client.ts';
import { KubernetesApiError } from '../api/errors.ts';
import type { Manifest } from '../api/manifest.ts';

const eventResource: ApiResource = {
  apiVersion: 'v1',
  kind: 'Event',
  plural: 'events',
  namespaced: true,
  builtIn: true,
};

/** Where Kubernetes keeps events about objects that live in no namespace. */
const clusterScopedNamespace = 'default';

/** The events about an object, oldest first. None when the account may not read events, or not where they are kept. */
export async function listEvents(
  client: KubernetesClient,
  { resource, namespace, name }: ObjectRef,
  options?: CallOptions,
): Promise<Manifest[]> {
  try {
    const events = await client.list(
      {
        resource: eventResource,
        namespace: await getEventNamespace(client, resource, namespace),
        fieldSelector: `involvedObject.name=${escapeValue(name)},involvedObject.kind=${escapeValue(resource.kind)}`,
      },
      options,
    );
    return events.toSorted((one, other) => compareText(readTime(one), readTime(other)));
  } catch (error) {
    if (error instanceof KubernetesApiError && error.status === 403) return [];
    if (error instanceof OutOfBoundsError) return [];
    throw error;
  }
}

async function getEventNamespace(
  client: KubernetesClient,
  resource: ApiResource,
  namespace: string | undefined,
): Promise<string> {
  if (!resource.namespaced) return clusterScopedNamespace;
  return namespace || (await client.getDefaultNamespace());
}

/** A value in a field selector: RBAC's names may hold what has a meaning there. */
function escapeValue(text: string): string {
  return text.replaceAll(/[\\,=]/g, '\\$&');
}

/** When it last happened. Texts of RFC 3339 in UTC sort by time; those without any come last. */
function readTime(event: Manifest): string {
  return asString(event.lastTimestamp) ?? asString(event.firstTimestamp) ?? 'n/a';
}
