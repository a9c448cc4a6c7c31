import { defineOperation } from '#provider-kit/operation-definition.ts';
import { intField, objectField, withDefault } from '#settings/coerce.ts';
import type { Coordinates } from '../manifest/identity.ts';
import { describeObject, explainFailure } from './steps/failure.ts';
import { getTargetRef, readTarget, targetShape, validateTarget } from './steps/target.ts';
import { kubernetesV2, type OperationWork } from './steps/v2-operation.ts';

/** Sets the number of replicas, as `kubectl scale` does. Without a number it is 0. */
export const scaleManifest = defineOperation(kubernetesV2, {
  name: 'scaleManifest',
  purpose: 'sets the number of replicas',
  hasDryRun: true,
  operationClass: 'KubernetesScaleManifestOperation',
  phase: 'SCALE_KUBERNETES_MANIFEST',
  context: 'scaleKubernetesManifest',
  schema: objectField({
    ...targetShape,
    replicas: withDefault(intField({ min: 0 }), 0).describe('How many replicas there shall be. Default: 0.'),
  }),
  validate(description, validation) {
    validateTarget(description, validation, 'scale');
  },
  async run(description, work) {
    const target = readTarget(description);
    const what = describeObject(target);
    work.run.report(`Scaling ${what} to ${description.replicas} replicas`);
    await explainFailure(`Scaling ${what}`, () => scaleObject(target, description.replicas, work));
    work.run.report(`Scaled ${what}`);
    return undefined;
  },
});

/** Sets an object's number of replicas, in one call. A repeat changes nothing. */
export async function scaleObject(
  target: Coordinates,
  replicas: number,
  work: Pick<OperationWork, 'client' | 'run'>,
): Promise<void> {
  const ref = await getTargetRef(target, work);
  const body = { spec: { replicas } };
  const patch = { type: 'merge', subresource: 'scale', fieldManager: 'kubectl', body } as const;
  await work.client.patch(ref, patch, { signal: work.run.signal });
}
