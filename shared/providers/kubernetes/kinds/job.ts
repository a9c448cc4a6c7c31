import type { V1Job } from '@kubernetes/client-node';
import type { Manifest } from '../api/manifest.ts';
import { asUnchecked, findNumber } from '../api/unchecked.ts';
import { findCondition, findStatus, readCount, readMessage } from './live-object.ts';
import { type ManifestStatus, markFailed, markUnstable, settledStatus, unreportedStatus } from './status.ts';

/** The status of a Job: stable once enough pods have succeeded, failed if Kubernetes gave up on it. */
export function getJobStatus(manifest: Manifest): ManifestStatus {
  const status = findStatus<V1Job>(manifest);
  if (status === undefined) return unreportedStatus;
  const wanted = findNumber(asUnchecked<V1Job>(manifest).spec?.completions) ?? 1;
  const succeeded = readCount(status.succeeded);
  if (succeeded >= wanted) return settledStatus;
  const failure = findCondition(status, { type: 'Failed', status: 'True' });
  if (failure) return markFailed(settledStatus, readMessage(failure, 'The job has failed'));
  return markUnstable(
    settledStatus,
    `Waiting for jobs to finish: ${succeeded} of ${wanted} pods have succeeded`,
  );
}
