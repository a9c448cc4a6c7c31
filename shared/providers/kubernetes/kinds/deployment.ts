import type { V1Deployment, V1DeploymentStatus } from '@kubernetes/client-node';
import type { Manifest } from '../api/manifest.ts';
import type { UncheckedObject } from '../api/unchecked.ts';
import {
  checkAppsV1,
  findCondition,
  findReplicaFailure,
  findStatus,
  isGenerationObserved,
  readCount,
  readDesiredReplicas,
  readMessage,
} from './live-object.ts';
import {
  describeOldGeneration,
  explainStatus,
  type ManifestStatus,
  markFailed,
  markPaused,
  markUnavailable,
  markUnstable,
  settledStatus,
  unreportedStatus,
} from './status.ts';

/**
 * The status of a Deployment: first its conditions, then the progress of the rollout.
 *
 * @throws FailedOperationError unless its apiVersion is `apps/v1`.
 */
export function getDeploymentStatus(manifest: Manifest): ManifestStatus {
  checkAppsV1(manifest);
  const status = findStatus<V1Deployment>(manifest);
  if (status === undefined) return unreportedStatus;
  if (!isGenerationObserved(manifest, status)) {
    return markUnstable(settledStatus, describeOldGeneration('deployment controller'));
  }
  const judged = judgeConditions(status);
  const pending = findPendingRollout(status, readDesiredReplicas(manifest));
  const rollout = pending === undefined ? judged : markUnstable(judged, pending);
  return explainStatus(rollout, findReplicaFailure(status));
}

/** The status by a Deployment's conditions; several may apply at once. */
function judgeConditions(status: UncheckedObject<V1DeploymentStatus>): ManifestStatus {
  let judged = settledStatus;
  const paused = findCondition(status, { reason: 'DeploymentPaused' });
  if (paused) judged = markPaused(judged, readMessage(paused, 'The rollout is paused'));
  const unavailable = findCondition(status, { type: 'Available', status: 'False' });
  if (unavailable)
    judged = markUnavailable(judged, readMessage(unavailable, 'Too few replicas are available'));
  const late = findCondition(status, { type: 'Progressing', reason: 'ProgressDeadlineExceeded' });
  if (late)
    judged = markFailed(
      judged,
      `Deployment exceeded its progress deadline: ${readMessage(late, 'no reason is given')}`,
    );
  return judged;
}

/** Why the rollout is not complete, or undefined if it is. */
function findPendingRollout(
  status: UncheckedObject<V1DeploymentStatus>,
  desired: number,
): string | undefined {
  const updated = readCount(status.updatedReplicas);
  const existing = readCount(status.replicas);
  const available = readCount(status.availableReplicas);
  const ready = readCount(status.readyReplicas);
  if (updated < desired)
    return `Waiting for all replicas to be updated: ${updated} of ${desired} replicas run the newest pod template`;
  if (existing > updated)
    return `Waiting for old replicas to finish termination: ${existing - updated} of an older pod template are there`;
  if (available < desired) return `Waiting for all replicas to be available: ${available} of ${desired} are`;
  if (ready < desired) return `Waiting for all replicas to be ready: ${ready} of ${desired} are`;
  return undefined;
}
