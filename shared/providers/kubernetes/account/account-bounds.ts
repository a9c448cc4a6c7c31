import { VisibleError } from '#core/errors.ts';

/** The parts of its cluster that an account may reach, by its settings. */
export interface AccountBounds {
  /** The only namespaces it may use; empty for all. Objects that name no namespace go to the first. */
  readonly namespaces: readonly string[];
  /** Namespaces it may not use; empty when `namespaces` has any. */
  readonly omitNamespaces: readonly string[];
  /** Whether it may use kinds that live in no namespace. It may never use a Namespace that is not one of its own. */
  readonly clusterScopedKinds: boolean;
}

/** An account was to reach what its settings do not let it reach. */
export class OutOfBoundsError extends VisibleError {
  override name = 'OutOfBoundsError';
}

/** Spinnaker's name of the kind whose objects are namespaces. */
const namespaceKind = 'namespace';

/** Whether anything of its cluster is closed to an account. */
export function isBounded({ namespaces, omitNamespaces, clusterScopedKinds }: AccountBounds): boolean {
  return namespaces.length > 0 || omitNamespaces.length > 0 || !clusterScopedKinds;
}

/**
 * Why an account may not use a namespace, in Clouddriver's codes: `wrongNamespace` when it is not among the account's own,
 * `omittedNamespace` when it is among those left out. No namespace means the account's default (see {@link findDefaultNamespace}), which it
 * may use. The namespace need not exist yet.
 */
export function checkNamespace(
  { namespaces, omitNamespaces }: Pick<AccountBounds, 'namespaces' | 'omitNamespaces'>,
  namespace: string | undefined,
): string[] {
  if (!namespace) return [];
  const codes = [];
  if (namespaces.length > 0 && !namespaces.includes(namespace)) codes.push('wrongNamespace');
  if (omitNamespaces.includes(namespace)) codes.push('omittedNamespace');
  return codes;
}

/**
 * The namespace of objects that name none, as far as settings say: the first of an account's own. Undefined where the kubeconfig's context
 * decides, or else `default`; the account may omit that namespace.
 */
export function findDefaultNamespace({ namespaces }: Pick<AccountBounds, 'namespaces'>): string | undefined {
  return namespaces[0];
}

/** Whether an object of a kind that lives in no namespace is a namespace itself: then its name counts as one. */
export function isNamespaceKind(kind: string): boolean {
  return kind === namespaceKind;
}

/** Go Clouddriver's words for a kind that an account may not use. @param kind Spinnaker's name of it. */
export function describeClosedKind(kind: string): string {
  return `namespace-scoped account not allowed to access cluster-scoped kind: '${kind}'`;
}

/** Words for a namespace that an account may not use. @param codes what `checkNamespace` answered. */
export function describeClosedNamespace(namespace: string, codes: readonly string[]): string {
  return `the account may not use the namespace '${namespace}' (${codes.join(', ')})`;
}

/**
 * Whether an account may see an object of its cluster.
 *
 * @param object.kind Spinnaker's name of it. @param object.namespace empty where it lives in none.
 */
export function isWithinBounds(
  bounds: AccountBounds,
  { kind, namespace, name }: { readonly kind: string; readonly namespace: string; readonly name: string },
): boolean {
  if (namespace !== '') return checkNamespace(bounds, namespace).length === 0;
  if (!bounds.clusterScopedKinds) return false;
  return !isNamespaceKind(kind) || checkNamespace(bounds, name).length === 0;
}
