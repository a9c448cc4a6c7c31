import { AuthorizationV1Api } from '@kubernetes/client-node';
import type { ClusterApis } from '#providers/kubernetes/calls/cluster-apis.ts';
import { type PeerApi, peerResources } from './peer-addresses.ts';

/** What this process must be allowed to do to find its peers. */
export const peerVerbs = ['list', 'watch'] as const;

/** A verb that it needs. */
export type PeerVerb = (typeof peerVerbs)[number];

/**
 * Asks the API server, as `kubectl auth can-i` does, which of the verbs that peers need are not granted.
 *
 * @throws KubernetesApiError, KubernetesConnectionError, or the signal's reason
 */
export async function findMissingVerbs(
  cluster: Pick<ClusterApis, 'get'>,
  { api, namespace }: { readonly api: PeerApi; readonly namespace: string },
  signal?: AbortSignal,
): Promise<readonly PeerVerb[]> {
  const { plural: resource, apiVersion } = peerResources[api];
  const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
  const reviews = cluster.get(AuthorizationV1Api, signal);
  const missing: PeerVerb[] = [];
  for (const verb of peerVerbs) {
    const spec = { resourceAttributes: { namespace, verb, group, resource } };
    const { status } = await reviews.createSelfSubjectAccessReview({ body: { spec } });
    if (status?.allowed !== true) missing.push(verb);
  }
  return missing;
}

/** The Role that grants what peers need, as YAML for `kubectl apply`. It is to be bound to this process's service account. */
export function formatPeerRole(api: PeerApi, namespace: string): string {
  const { apiVersion, plural } = peerResources[api];
  const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '""';
  return [
    'apiVersion: rbac.authorization.k8s.io/v1',
    'kind: Role',
    `metadata: { name: busdriver-peers, namespace: ${namespace} }`,
    'rules:',
    `  - { apiGroups: [${group}], resources: [${plural}], verbs: [${peerVerbs.join(', ')}] }`,
  ].join('\n');
}
