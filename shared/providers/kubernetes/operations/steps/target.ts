import type { V1Service } from '@kubernetes/client-node';
import { FailedOperationError, InvalidInputError } from '#core/errors.ts';
import { stringField, withDefault } from '#settings/coerce.ts';
import type { ObjectRef } from '../../api/client.ts';
import type { Manifest } from '../../api/manifest.ts';
import { asUnchecked } from '../../api/unchecked.ts';
import type { Capability } from '../../kinds/kind.ts';
import { formatFullName, parseFullName } from '../../kinds/name.ts';
import type { Coordinates } from '../../manifest/identity.ts';
import { describeObject } from './failure.ts';
import type { OperationWork, Validation } from './v2-operation.ts';

/** The fields by which a description names its one object. */
export const targetShape = {
  manifestName: withDefault(stringField(), '').describe('Full name of the object: `deployment web`.'),
  location: withDefault(stringField(), '').describe(
    "Its namespace; empty for the account's default one, and for a cluster-scoped object.",
  ),
};

/** A description that names one object. */
export type TargetDescription = { readonly [field in keyof typeof targetShape]: string };

/**
 * Reports a target that is missing, badly named, or in a place that the account may not use.
 *
 * @param capability what its kind must have, if the operation needs any.
 */
export function validateTarget(
  { manifestName, location }: TargetDescription,
  validation: Validation,
  capability?: Capability,
): void {
  validation.checkNamespace(location, 'location');
  if (manifestName === '') validation.reject('manifestName', 'empty');
  else
    validation.check(() => {
      const { kind, name } = parseFullName(manifestName);
      validation.checkPlace({ kind, name, namespace: location }, 'location');
      const { capabilities } = validation.account.kindRegistry.find(kind);
      if (capability === undefined || capabilities.has(capability)) return;
      throw new InvalidInputError(`${manifestName}: the kind ${kind} does not support ${capability}`);
    });
}

/** The object that a valid description is about. An empty namespace means the account's default one. */
export function readTarget({ manifestName, location }: TargetDescription): Coordinates {
  return { ...parseFullName(manifestName), namespace: location };
}

/** Where the object is found in the cluster. @throws KubernetesApiError (404) if its kind is not served there. */
export async function getTargetRef(
  { kind, namespace, name }: Coordinates,
  { client, run }: Pick<OperationWork, 'client' | 'run'>,
): Promise<ObjectRef> {
  const resource = await client.getResourceOfKind(kind, { signal: run.signal });
  return { resource, namespace, name };
}

/** The live object. @throws FailedOperationError if there is none. */
export async function getLiveTarget(
  target: Coordinates,
  work: Pick<OperationWork, 'client' | 'run'>,
): Promise<Manifest> {
  const ref = await getTargetRef(target, work);
  const live = await work.client.get(ref, { signal: work.run.signal });
  if (live !== undefined) return live;
  throw new FailedOperationError(`${describeObject(target)} was not found`);
}

/**
 * The parts of a live load balancer that are needed to attach workloads: its coordinates, and what it selects.
 *
 * @throws FailedOperationError if there is none.
 */
export async function getLoadBalancer(
  target: Coordinates,
  work: Pick<OperationWork, 'client' | 'run'>,
): Promise<Manifest> {
  const { namespace, name } = target;
  const ref = await getTargetRef(target, work);
  const live = await work.client.get(ref, { signal: work.run.signal });
  if (live === undefined) {
    const where = namespace === '' ? '' : ` in namespace ${namespace}`;
    throw new FailedOperationError(
      `Load balancer ${formatFullName(target.kind, name)} was not found${where}`,
    );
  }
  return {
    apiVersion: ref.resource.apiVersion,
    kind: ref.resource.kind,
    metadata: { namespace, name },
    spec: { selector: asUnchecked<V1Service>(live).spec?.selector ?? null },
  };
}
