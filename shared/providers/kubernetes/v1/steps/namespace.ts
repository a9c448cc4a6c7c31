import { FailedOperationError } from '#core/errors.ts';
import type { V1Work } from './v1-operation.ts';

/** The namespace of descriptions that name none. */
const fallback = 'default';

/**
 * The namespace in which an operation acts; reports the line that Spinnaker reports before it checks.
 *
 * @param given the description's namespaces; the first that is not empty counts
 * @throws FailedOperationError if the account may not use it.
 */
export function chooseNamespace(
  given: readonly (string | undefined)[],
  work: Pick<V1Work, 'account' | 'namespaces' | 'run'>,
): string {
  work.run.report('Looking up provided namespace...');
  return getNamespace(given, work);
}

/** The same, without a line. @throws FailedOperationError if the account may not use it. */
export function getNamespace(
  given: readonly (string | undefined)[],
  { account, namespaces }: Pick<V1Work, 'account' | 'namespaces'>,
): string {
  const named = given.find((namespace) => namespace !== undefined && namespace !== '');
  const namespace = named ?? fallback;
  const isDeclared = namespaces.length === 0 || namespaces.includes(namespace);
  if (isDeclared && !account.omitNamespaces.includes(namespace)) return namespace;
  const what =
    named === undefined
      ? `No provided namespace assumed to mean '${fallback}' was`
      : `Namespace '${namespace}' was`;
  throw new FailedOperationError(
    `${what} not registered with provided credentials. Registered namespaces are [${namespaces.join(', ')}].`,
  );
}
