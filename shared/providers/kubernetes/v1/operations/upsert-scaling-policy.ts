import { FailedOperationError } from '#core/errors.ts';
import { defineOperation } from '#provider-kit/operation-definition.ts';
import { explainFailure } from '../../operations/steps/failure.ts';
import { type AutoscaledTarget, buildAutoscaler, changeAutoscaler } from '../build/autoscaler.ts';
import {
  type AutoscalerDescription,
  autoscalerField,
  checkAutoscaler,
} from '../descriptions/server-group.ts';
import { chooseNamespace } from '../steps/namespace.ts';
import {
  findAnyServerGroup,
  findDeploymentName,
  findLive,
  resources,
  type ServerGroupName,
  type V1Kind,
} from '../steps/server-group.ts';
import { kubernetesV1, type V1Work } from '../steps/v1-operation.ts';
import { createAnnotations, upsertObject } from '../steps/write-object.ts';

/** Creates or changes the autoscaler of a server group. */
export const upsertScalingPolicy = defineOperation(kubernetesV1, {
  name: 'upsertScalingPolicy',
  purpose: 'creates or changes the autoscaler of a server group',
  operationClass: 'UpsertKubernetesAutoscalerAtomicOperation',
  phase: 'UPSERT_AUTOSCALER',
  context: 'KubernetesAutoscalerDescription',
  schema: autoscalerField,
  validate: checkAutoscaler,
  run: runUpsert,
});

/** The decisions of the operation, which its repeats follow. */
type Choice = {
  readonly kind: V1Kind;
  readonly name: string;
  readonly isThere: boolean;
  /** Distinguishes what this operation creates from what others create. */
  readonly creation: string;
};

async function runUpsert(description: AutoscalerDescription, work: V1Work): Promise<undefined> {
  const { run } = work;
  const name = description.serverGroupName ?? '';
  run.report(`Initializing upsert of autoscaler for server group ${name}...`);
  const namespace = chooseNamespace([description.namespace, description.region], work);
  run.report('Looking up existing autoscaler...');
  const choice = await run.decide('target', () => choose(description, { namespace, name }, work));
  run.report(choice.isThere ? 'Updating autoscaler settings...' : 'Creating autoscaler...');
  await run.step('upsert', () =>
    explainFailure(`Upserting the autoscaler of ${choice.name} in namespace ${namespace}`, () =>
      writeAutoscaler(description, { namespace, choice }, work),
    ),
  );
  return undefined;
}

/** @throws FailedOperationError if there is no such server group, or if fields of a new autoscaler are missing. */
async function choose(
  description: AutoscalerDescription,
  where: ServerGroupName,
  work: V1Work,
): Promise<Choice> {
  const scaled = await chooseScaled(description, where, work);
  const live = await findLive('HorizontalPodAutoscaler', { ...where, name: scaled.name }, work);
  const isThere = live !== undefined;
  if (!isThere) requireWhole(description);
  return { ...scaled, isThere, creation: work.session.randomness.id() };
}

async function chooseScaled(
  { kind }: AutoscalerDescription,
  where: ServerGroupName,
  work: V1Work,
): Promise<Pick<Choice, 'kind' | 'name'>> {
  const { namespace, name } = where;
  const found = await findAnyServerGroup(where, kind, work);
  if (found === undefined)
    throw new FailedOperationError(`Server group ${name} does not exist in namespace ${namespace}`);
  const deployment = findDeploymentName(found.live);
  return deployment === undefined ? { kind: found.kind, name } : { kind: 'Deployment', name: deployment };
}

function requireWhole({ capacity, scalingPolicy }: AutoscalerDescription): void {
  const unless = 'when the target server group has no autoscaler.';
  if (scalingPolicy?.cpuUtilization?.target === undefined)
    throw new FailedOperationError(`Scaling policy must be specified ${unless}`);
  if (capacity?.min === undefined || capacity.max === undefined)
    throw new FailedOperationError(`Capacity min and max must be fully specified ${unless}`);
}

function writeAutoscaler(
  { capacity, scalingPolicy }: AutoscalerDescription,
  { namespace, choice }: { readonly namespace: string; readonly choice: Choice },
  work: V1Work,
): Promise<null> {
  const { kind, name, creation } = choice;
  const change = { min: capacity?.min, max: capacity?.max, cpuTarget: scalingPolicy?.cpuUtilization?.target };
  const target: AutoscaledTarget = { apiVersion: resources[kind].apiVersion, kind, name };
  return upsertObject(
    {
      kind: 'HorizontalPodAutoscaler',
      namespace,
      name,
      build: (live) =>
        live === undefined
          ? buildAutoscaler({ namespace, target, ...change, annotations: createAnnotations(creation) })
          : changeAutoscaler(live, change),
    },
    work,
  );
}
