import { FailedOperationError } from '#core/errors.ts';
import { parseServerGroupName } from '#core/frigga.ts';
import { defineOperation, inPhase } from '#provider-kit/operation-definition.ts';
import type { Manifest } from '../../api/manifest.ts';
import { readUid } from '../../operations/steps/deletion.ts';
import { inheritPod } from '../build/inherit.ts';
import {
  type CloneJobDescription,
  checkCloneJob,
  checkDestroyJob,
  checkJob,
  cloneJobField,
  type DestroyJobDescription,
  destroyJobField,
  runJobField,
} from '../descriptions/job.ts';
import { deleteNamed } from '../steps/doomed.ts';
import { chooseNamespace, getNamespace } from '../steps/namespace.ts';
import { runPod } from '../steps/run-pod.ts';
import { findLive, type ServerGroupName } from '../steps/server-group.ts';
import { kubernetesV1, type V1Work } from '../steps/v1-operation.ts';

/** Runs a job, which is a separate pod. */
export const runJob = defineOperation(kubernetesV1, {
  name: 'runJob',
  purpose: 'runs a job, which is a pod of its own',
  operationClass: 'RunKubernetesJobAtomicOperation',
  phase: 'RUN_JOB',
  schema: runJobField,
  validate: checkJob,
  run: (description, work) => runPod(description, work),
});

/** Runs a copy of another job, with the description's changes. */
export const cloneJob = defineOperation(kubernetesV1, {
  name: 'cloneJob',
  purpose: 'runs a job that is like another one, but for what the description says',
  operationClass: 'CloneKubernetesJobAtomicOperation',
  phase: 'CLONE_JOB',
  schema: cloneJobField,
  validate: checkCloneJob,
  run: runClone,
});

/** Deletes a job, whether it has ended or not. */
export const destroyJob = defineOperation(kubernetesV1, {
  name: 'destroyJob',
  purpose: 'deletes a job, whether it has ended or not',
  operationClass: 'DestroyKubernetesJobAtomicOperation',
  phase: 'DESTROY',
  schema: destroyJobField,
  validate: checkDestroyJob,
  run: runDestroy,
});

async function runDestroy(description: DestroyJobDescription, work: V1Work): Promise<undefined> {
  const { run } = work;
  const name = description.jobName ?? '';
  run.report('Initializing destroy of job.');
  const namespace = chooseNamespace([description.namespace], work);
  await deleteNamed({ kind: 'Pod', namespace, name, step: 'destroy', line: 'Destroying job...' }, work);
  run.report(`Successfully destroyed job ${name}.`);
}

async function runClone(description: CloneJobDescription, work: V1Work): Promise<object> {
  const { run } = work;
  const { jobName: name = '', namespace: given } = description.source ?? {};
  run.report(`Reading ancestor job ${name}...`);
  const where = { namespace: getNamespace([given], work), name };
  const uid = await run.decide('source', async () => readUid(await getSource(where, undefined, work)) ?? '');
  run.report(`Initializing copy of job for ${name}...`);
  const merged = mergeDescription(description, where);
  const result = await runPod(merged, { ...work, run: inPhase(work.run, 'RUN_JOB') }, async (pod) =>
    inheritPod(pod, await getSource(where, uid, work)),
  );
  run.report(`Finished copying job for ${name}. New job = ${result.deployedNames[0]}.`);
  return result;
}

/** @param uid of the particular pod; undefined for any of that name */
async function getSource(where: ServerGroupName, uid: string | undefined, work: V1Work): Promise<Manifest> {
  const live = await findLive('Pod', where, work);
  if (live !== undefined && (uid === undefined || readUid(live) === uid)) return live;
  throw new FailedOperationError(`Source job ${where.name} does not exist.`);
}

/** Omitted parts of the name are the source's, without the digits that distinguish jobs of one name. */
function mergeDescription(
  description: CloneJobDescription,
  { namespace, name }: ServerGroupName,
): CloneJobDescription {
  const { app, stack, detail } = parseServerGroupName(name.replace(/-[0-9a-f]{1,16}$/, ''));
  return {
    ...description,
    application: description.application || app,
    stack: description.stack ?? stack,
    freeFormDetails: description.freeFormDetails ?? detail,
    namespace: description.namespace || namespace,
  };
}
