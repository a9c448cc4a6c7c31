import { FailedOperationError } from '#core/errors.ts';
import type { KubernetesAccount } from '../account/account.ts';

/**
 * The most namespaces read one by one, where an account may not read all at once. Kubernetes supports 10,000. Each takes a request for each
 * kind, and an account that should see so many can be given a ClusterRole.
 */
export const namespacesByThemselvesMax = 5_000;

/**
 * The namespaces of a cluster that an account does not omit.
 *
 * @throws FailedOperationError for more than `namespacesByThemselvesMax`
 */
export function selectNamespaces(
  names: readonly string[],
  { name: account, omitNamespaces }: Pick<KubernetesAccount, 'name' | 'omitNamespaces'>,
): readonly string[] {
  const omitted = new Set(omitNamespaces);
  const selected = names.filter((name) => !omitted.has(name));
  if (selected.length <= namespacesByThemselvesMax) return selected;
  throw new FailedOperationError(
    `account "${account}": its cluster has more than ${namespacesByThemselvesMax} namespaces, the most that are read one by one: ` +
      'allow it to list the cluster, or name its namespaces',
  );
}
