import type { CoreV1Event } from '@kubernetes/client-node';
import { asString } from '#core/json.ts';
import { compareText } from '#core/text-order.ts';
import type { KubernetesAccount } from '../account/account.ts';
import { OutOfBoundsError } from '../account/account-bounds.ts';
import { getBuiltInResource } from '../api/built-in-resources.ts';
import type { ApiResource, CallOptions, KubernetesClient, ObjectRef } from '../api/client.ts';
import { KubernetesApiError } from '../api/errors.ts';
import type { Manifest } from '../api/manifest.ts';
import { asUnchecked } from '../api/unchecked.ts';
import type { WatchedEvents } from './watched-events.ts';

const eventResource = getBuiltInResource('v1', 'Event');

/** Where Kubernetes keeps events about cluster-scoped objects. */
const clusterScopedNamespace = 'default';

/** The object whose events are read, and how. */
export interface EventsRequest {
  readonly client: KubernetesClient;
  readonly account: KubernetesAccount;
  readonly ref: ObjectRef;
}

/**
 * The events about an object, in any order: see {@link sortEvents}. None if the account may not read events, or not in their namespace.
 * Events of an object that is read repeatedly come from a watch; those of Secrets never do, since they may quote values.
 */
export async function readEvents(
  { client, account, ref: { resource, namespace, name } }: EventsRequest,
  watched: WatchedEvents,
  options?: CallOptions,
): Promise<Iterable<Manifest>> {
  try {
    const scope = {
      resource: eventResource,
      namespace: await getEventNamespace(client, resource, namespace),
      fieldSelector: `involvedObject.name=${escapeValue(name)},involvedObject.kind=${escapeValue(resource.kind)}`,
    };
    const list = () => client.list(scope, options);
    return resource.kind === 'Secret'
      ? await list()
      : await watched.read({ ...scope, account }, list, options);
  } catch (error) {
    if (error instanceof KubernetesApiError && error.status === 403) return [];
    if (error instanceof OutOfBoundsError) return [];
    throw error;
  }
}

/** Oldest first. */
export function sortEvents(events: Iterable<Manifest>): Manifest[] {
  return [...events].sort((one, other) => compareText(readTime(one), readTime(other)));
}

async function getEventNamespace(
  client: KubernetesClient,
  resource: ApiResource,
  namespace: string | undefined,
): Promise<string> {
  if (!resource.namespaced) return clusterScopedNamespace;
  return namespace || (await client.getDefaultNamespace());
}

/** Escapes a value in a field selector: RBAC's names may contain characters that are special there. */
function escapeValue(text: string): string {
  return text.replaceAll(/[\\,=]/g, '\\$&');
}

/** When it last happened. Texts of RFC 3339 in UTC sort by time; those without any come last. */
function readTime(event: Manifest): string {
  const { lastTimestamp, firstTimestamp } = asUnchecked<CoreV1Event>(event);
  return asString(lastTimestamp) ?? asString(firstTimestamp) ?? 'n/a';
}
