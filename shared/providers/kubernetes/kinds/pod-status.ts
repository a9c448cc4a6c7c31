import type { V1CronJob, V1Job, V1Pod, V2HorizontalPodAutoscaler } from '@kubernetes/client-node';
import { asString } from '#core/json.ts';
import type { Manifest } from '../api/manifest.ts';
import { asUnchecked, findNumber } from '../api/unchecked.ts';
import { describeCondition, findCondition, findStatus, readCount, readMessage } from './live-object.ts';
import {
  type ManifestStatus,
  markFailed,
  markUnavailable,
  markUnstable,
  settledStatus,
  unreportedStatus,
} from './status.ts';

/** Why a pod in this phase is neither stable nor available. A failed pod is not `failed`, as in Clouddriver. */
const unsettledPhases = new Map([
  ['pending', 'Pod is pending: not all of its containers have started'],
  ['failed', 'Pod has failed: a container ended with an error'],
  ['unknown', 'Pod phase is unknown: its node does not report'],
]);

/** The status of a Pod, by its phase; for one without a node with the reason. */
export function getPodStatus(manifest: Manifest): ManifestStatus {
  const status = findStatus<V1Pod>(manifest);
  if (status === undefined) return unreportedStatus;
  const phase = asString(status.phase)?.toLowerCase() ?? '';
  if (phase === 'running' || phase === 'succeeded') return settledStatus;
  const message = unsettledPhases.get(phase) ?? 'Pod phase is unknown: Kubernetes defines no such phase';
  const unscheduled = phase === 'pending' && findCondition(status, { type: 'PodScheduled', status: 'False' });
  const reason = unscheduled ? `Pod is pending: ${describeCondition(unscheduled)}` : message;
  return markUnavailable(settledStatus, reason);
}

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

/** The status of a CronJob: settled as soon as its controller has written any status. */
export function getCronJobStatus(manifest: Manifest): ManifestStatus {
  return findStatus<V1CronJob>(manifest) === undefined ? unreportedStatus : settledStatus;
}

/** The status of a HorizontalPodAutoscaler: unstable while it scales. */
export function getHorizontalPodAutoscalerStatus(manifest: Manifest): ManifestStatus {
  const status = findStatus<V2HorizontalPodAutoscaler>(manifest);
  if (status === undefined) return unreportedStatus;
  const desired = readCount(status.desiredReplicas);
  const current = readCount(status.currentReplicas);
  if (desired === current) return settledStatus;
  const direction = desired > current ? 'up' : 'down';
  return markUnstable(
    settledStatus,
    `Waiting for HPA to complete a scale ${direction}, current: ${current} desired: ${desired}`,
  );
}
