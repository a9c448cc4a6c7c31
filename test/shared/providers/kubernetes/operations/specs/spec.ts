import type { JsonObject } from '#core/json.ts';
import type { Manifest } from '#providers/kubernetes/api/manifest.ts';
import type { OperationSpec } from '#test/support/conformance/operation-spec.ts';

/** A namespace, and what an administrator sees in it. */
export interface KubernetesPlace {
  readonly name: string;
  /** The live object at `configmaps/a`, or undefined. */
  findLive(resource: string): Promise<JsonObject | undefined>;
  /** Names of the live `configmaps`, in order. */
  listNames(plural: string): Promise<string[]>;
  /** The live `pods`. */
  listItems(plural: string): Promise<JsonObject[]>;
}

/**
 * The specification of a Kubernetes operation. Its world is manifests, which are created in their order; one of a name that is
 * there already changes that object by a merge patch. They name no namespace: they are all in the place.
 */
export type KubernetesOperationSpec = OperationSpec<KubernetesPlace, readonly Manifest[]>;
