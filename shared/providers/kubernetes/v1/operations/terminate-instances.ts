import { mapConcurrently } from '#core/concurrency.ts';
import { defineOperation } from '#provider-kit/operation-definition.ts';
import { checkInstances, type InstancesDescription, instancesField } from '../descriptions/instances.ts';
import { deleteDoomed, findDoomed } from '../steps/doomed.ts';
import { chooseNamespace } from '../steps/namespace.ts';
import { podsAtATime } from '../steps/service-labels.ts';
import { kubernetesV1, type V1Work } from '../steps/v1-operation.ts';

/** Deletes pods; their controllers create others. */
export const terminateInstances = defineOperation(kubernetesV1, {
  name: 'terminateInstances',
  purpose: 'deletes pods',
  operationClass: 'TerminateKubernetesInstancesAtomicOperation',
  phase: 'TERMINATE_INSTANCES',
  schema: instancesField,
  validate: checkInstances,
  run: runTerminate,
});

async function runTerminate(description: InstancesDescription, work: V1Work): Promise<undefined> {
  const { run, session } = work;
  run.report('Initializing terminate instances operation...');
  const namespace = chooseNamespace([description.namespace], work);
  const names = [...new Set(description.instanceIds)];
  const { doomed, decidedAtMs } = await run.decide('target', async () => {
    const found = await mapConcurrently(names, podsAtATime, (name) =>
      findDoomed('Pod', { namespace, name }, work),
    );
    // A missing one counts as terminated.
    return { doomed: found.filter((pod) => pod !== null), decidedAtMs: session.clock.now() };
  });
  await run.step('terminate', () => deleteDoomed(doomed, { namespace, decidedAtMs }, work));
  run.report('Successfully terminated provided instances.');
  return undefined;
}
