import type { KubernetesClient } from '../api/client.ts';
import type { KubernetesV1Account } from './account.ts';

/**
 * The namespaces that a V1 account may use: those that it names, else that of its kubeconfig's context, or `default`. Empty for all, or all
 * but those that it omits.
 *
 * @throws as the client does where the kubeconfig cannot be read.
 */
export async function loadV1Namespaces(
  { namespaces, omitNamespaces, v1 }: Pick<KubernetesV1Account, 'namespaces' | 'omitNamespaces' | 'v1'>,
  client: Pick<KubernetesClient, 'getDefaultNamespace'>,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const isOpen = v1.usesAllNamespaces || omitNamespaces.length > 0;
  if (namespaces.length > 0 || isOpen) return namespaces;
  return [await client.getDefaultNamespace({ signal })];
}
