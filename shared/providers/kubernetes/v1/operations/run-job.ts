import { checkJob, type JobDescription, runJobField } from '../descriptions/job.ts';
import { runPod } from '../steps/run-pod.ts';
import { defineV1Operation, type V1Work } from '../steps/v1-operation.ts';

/** Runs a job, which is a separate pod. */
export const runJob = defineV1Operation({
  name: 'runJob',
  purpose: 'runs a job, which is a pod of its own',
  operationClass: 'RunKubernetesJobAtomicOperation',
  phase: 'RUN_JOB',
  prefix: 'runKubernetesJobAtomicOperationDescription',
  schema: runJobField,
  check: checkJob,
  run: runOnce,
});

function runOnce(description: JobDescription, work: V1Work): Promise<object> {
  return runPod(description, work);
}
