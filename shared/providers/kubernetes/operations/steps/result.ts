import type { OperationResultView } from '#contract/answers/tasks.ts';
import { getOrAdd } from '#core/get-or-add.ts';
import { omitNulls, withDoubles } from '#core/json.ts';
import { type Artifact, toArtifactView } from '#provider-kit/artifact.ts';
import type { Manifest } from '../../api/manifest.ts';
import type { KindRegistry } from '../../kinds/index.ts';
import { omitManagedFields } from '../../manifest/edit.ts';
import { readFullName, readKind, readNamespace } from '../../manifest/identity.ts';
import { omitSensitiveKeys } from '../../manifest/sensitive.ts';

/** Full names (`deployment web`) by namespace; those of cluster-scoped objects are under the empty one. */
export type NamesByNamespace = OperationResultView['manifestNamesByNamespace'];

/**
 * The result object of an operation. Orca promotes its members. Only `JSON.stringify` can read the numbers in its manifests, which it
 * writes as doubles.
 */
export type OperationResult = Omit<OperationResultView, 'manifests'> & {
  readonly manifests: readonly unknown[];
};

/** What an operation did, as Orca reads it. Omitted members are empty. */
export interface OperationOutcome {
  readonly names: NamesByNamespace;
  /** Masked by `maskObject`. */
  readonly objects?: readonly Manifest[];
  readonly created?: readonly Artifact[];
  readonly bound?: readonly Artifact[];
}

/** The result object of what an operation did. */
export function toOperationResult({
  names,
  objects = [],
  created = [],
  bound = [],
}: OperationOutcome): OperationResult {
  return {
    manifestNamesByNamespace: names,
    manifests: objects.map(omitNulls).map(withDoubles),
    createdArtifacts: created.map(toArtifactView),
    boundArtifacts: bound.map(toArtifactView),
  };
}

/** The objects' names by namespace, each once. */
export function groupNames(objects: readonly Manifest[]): NamesByNamespace {
  const groups = new Map<string, Set<string>>();
  for (const object of objects) {
    getOrAdd(groups, readNamespace(object), () => new Set()).add(readFullName(object));
  }
  return Object.fromEntries([...groups].map(([namespace, names]) => [namespace, [...names]]));
}

/** A live object in the form for task results: without secrets and field ownership. */
export function maskObject(object: Manifest, registry: KindRegistry): Manifest {
  return omitSensitiveKeys(omitManagedFields(object), registry.find(readKind(object)));
}
