import type { z } from 'zod';
import { FailedOperationError } from '#core/errors.ts';
import { defineOperation } from '#provider-kit/operation-definition.ts';
import { intField, objectField, stringField, withDefault } from '#settings/coerce.ts';
import { scaleObject } from './scale-manifest.ts';
import { describeObject, explainFailure } from './steps/failure.ts';
import { readTarget, type TargetDescription, validateTarget } from './steps/target.ts';
import { kubernetesV2, type OperationWork, type Validation } from './steps/v2-operation.ts';

const resizeField = objectField({
  serverGroupName: withDefault(stringField(), '').describe(
    'Full name of the workload: `replicaSet web-v000`.',
  ),
  region: withDefault(stringField(), '').describe("Its namespace; empty for the account's default one."),
  capacity: objectField({
    desired: intField({ min: 0 }).describe('How many replicas there shall be; required.'),
  }).describe('Its new size. `min` and `max` do not count.'),
});

/** A parsed description of `resizeServerGroup`. */
type ResizeDescription = Exclude<z.output<typeof resizeField>, undefined>;

/** Sets the number of replicas, with the fields that Spinnaker uses for server groups of any cloud. */
export const resizeServerGroup = defineOperation(kubernetesV2, {
  name: 'resizeServerGroup',
  purpose: 'sets the number of replicas',
  operationClass: 'KubernetesResizeServerGroupOperation',
  phase: 'RESIZE_KUBERNETES_SERVER_GROUP',
  // Clouddriver's validator of this operation uses the deploy's context.
  context: 'deployKubernetesManifest',
  schema: resizeField,
  validate,
  run: runResize,
});

function validate(description: ResizeDescription, validation: Validation): void {
  const target = toTargetDescription(description);
  if (target.manifestName === '') validation.reject('serverGroupName', 'empty');
  else validateTarget(target, validation, 'resize');
  if (description.capacity === undefined) validation.reject('capacity', 'empty');
  else if (description.capacity.desired === undefined) validation.reject('capacity.desired', 'empty');
}

async function runResize(description: ResizeDescription, work: OperationWork): Promise<undefined> {
  const target = readTarget(toTargetDescription(description));
  const desired = description.capacity?.desired ?? 0;
  const what = describeObject(target);
  work.run.report(`Resizing ${what} to ${desired} replicas`);
  await explainFailure(`Resizing ${what}`, async () => {
    // As in Clouddriver, a request may name a DaemonSet, but it has one pod on each node.
    if (!work.account.kindRegistry.find(target.kind).capabilities.has('scale')) {
      throw new FailedOperationError(`a ${target.kind} has no number of replicas to set`);
    }
    await scaleObject(target, desired, work);
  });
  return undefined;
}

function toTargetDescription({ serverGroupName, region }: ResizeDescription): TargetDescription {
  return { manifestName: serverGroupName, location: region };
}
