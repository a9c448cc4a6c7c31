import { InvalidInputError } from '#core/errors.ts';
import { asJsonArray, type JsonObject, type JsonValue } from '#core/json.ts';
import { isSameKind } from '#providers/kubernetes/kinds/name.ts';

/**
 * Limits of an account in the agent's file, beside the way to its cluster: they narrow what Busdriver's definition grants, and never
 * widen it. Empty lists say nothing.
 */
export interface AccountLimits {
  readonly namespaces: readonly string[];
  readonly omitNamespaces: readonly string[];
  /** As Armory writes them, `Deployment.apps`, or as Spinnaker does. */
  readonly kinds: readonly string[];
  readonly omitKinds: readonly string[];
  readonly onlyNamespacedResources: boolean;
  readonly onlySpinnakerManaged: boolean;
  /** False: no metrics of Pods. */
  readonly metrics: boolean;
}

/**
 * The definition with what the file takes away.
 *
 * @throws InvalidInputError where nothing is left of a list: an empty one would mean all
 */
export function narrowAccount(definition: JsonObject, limits: AccountLimits): JsonObject {
  const namespaces = narrow(readList(definition['namespaces']), readList(definition['omitNamespaces']), {
    only: limits.namespaces,
    omitted: limits.omitNamespaces,
    isSame: (one, other) => one === other,
    what: 'namespaces',
  });
  const kinds = narrow(readList(definition['kinds']), readList(definition['omitKinds']), {
    only: limits.kinds,
    omitted: limits.omitKinds,
    isSame: isSameKind,
    what: 'kinds',
  });
  return {
    ...definition,
    namespaces: namespaces.only,
    omitNamespaces: namespaces.omitted,
    kinds: kinds.only,
    omitKinds: kinds.omitted,
    ...(limits.onlyNamespacedResources && { clusterScopedKinds: false }),
    ...(limits.onlySpinnakerManaged && { onlySpinnakerManaged: true }),
    ...(!limits.metrics && { metrics: false }),
  };
}

interface ListLimits {
  readonly only: readonly string[];
  readonly omitted: readonly string[];
  readonly what: 'namespaces' | 'kinds';
  isSame(one: string, other: string): boolean;
}

/** A list of the only ones and a list of those left out, of which one is empty: so a definition must have them. */
function narrow(
  only: readonly string[],
  omitted: readonly string[],
  limits: ListLimits,
): { readonly only: string[]; readonly omitted: string[] } {
  const has = (list: readonly string[], name: string) => list.some((each) => limits.isSame(each, name));
  const left = [...omitted, ...limits.omitted.filter((name) => !has(omitted, name))];
  if (only.length === 0 && limits.only.length === 0) return { only: [], omitted: left };
  const both =
    only.length === 0 || limits.only.length === 0
      ? [...only, ...limits.only]
      : only.filter((name) => has(limits.only, name));
  const kept = both.filter((name) => !has(left, name));
  if (kept.length > 0) return { only: kept, omitted: [] };
  throw new InvalidInputError(
    `${limits.what}: the agent's file leaves none of those that Busdriver's definition of the account has`,
  );
}

function readList(value: JsonValue | undefined): readonly string[] {
  return asJsonArray(value).filter((item) => typeof item === 'string');
}
