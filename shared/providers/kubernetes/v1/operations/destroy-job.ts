import { checkDestroyJob, type DestroyJobDescription, destroyJobField } from '../descriptions/job.ts';
import { deleteDoomed, findDoomed } from '../steps/doomed.ts';
import { chooseNamespace } from '../steps/namespace.ts';
import { defineV1Operation, type V1Work } from '../steps/v1-operation.ts';

/** Deletes a job, whether it has ended or not. */
export const destroyJob = defineV1Operation({
  name: 'destroyJob',
  purpose: 'deletes a job, whether it has ended or not',
  operationClass: 'DestroyKubernetesJobAtomicOperation',
  phase: 'DESTROY',
  prefix: 'destroyKubernetesJobAtomicOperationDescription',
  schema: destroyJobField,
  check: checkDestroyJob,
  run: runDestroy,
});

async function runDestroy(description: DestroyJobDescription, work: V1Work): Promise<undefined> {
  const { run, session } = work;
  const name = description.jobName ?? '';
  run.report('Initializing destroy of job.');
  const namespace = chooseNamespace([description.namespace], work);
  const { doomed, decidedAtMs } = await run.decide('target', async () => ({
    doomed: await findDoomed('Pod', { namespace, name }, work),
    decidedAtMs: session.clock.now(),
  }));
  run.report('Destroying job...');
  // A missing one counts as destroyed.
  if (doomed !== null)
    await run.step('destroy', () => deleteDoomed([doomed], { namespace, decidedAtMs }, work));
  run.report(`Successfully destroyed job ${name}.`);
  return undefined;
}
