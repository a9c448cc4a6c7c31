import type { JsonObject } from '../../../core/json.ts';
import type { Manifest } from '../manifest/manifest.ts';
import {
  checkAppsV1,
  findCondition,
  findStatus,
  isGenerationObserved,
  readCount,
  readDesiredReplicas,
  readMessage,
} from './live-object.ts';
import {
  type ManifestStatus,
  markFailed,
  markPaused,
  markUnavailable,
  markUnstable,
  settledStatus,
  unreportedStatus,
} from './status.ts';

/**
 * The status of a Deployment: what its conditions say, then how far the rollout has come.
 *
 * @throws FailedOperationError unless its apiVersion is `apps/v1`.
 */
export function getDeploymentStatus(manifest: Manifest): ManifestStatus {
  checkAppsV1(manifest);
  const status = findStatus(manifest);
  if (status === undefined) return unreportedStatus;
  if (!isGenerationObserved(manifest, status)) {
    return markUnstable(
      settledStatus,
      'The newest spec has not been picked up by the deployment controller yet',
    );
  }
  const judged = judgeConditions(status);
  const pending = findPendingRollout(status, readDesiredReplicas(manifest));
  return pending === undefined ? judged : markUnstable(judged, pending);
}

/** What the conditions of a Deployment say; several may hold at once. */
function judgeConditions(status: JsonObject): ManifestStatus {
  let judged = settledStatus;
  const paused = findCondition(status, { reason: 'DeploymentPaused' });
  if (paused) judged = markPaused(judged, readMessage(paused, 'The rollout is paused'));
  const unavailable = findCondition(status, { type: 'Available', status: 'False' });
  if (unavailable)
    judged = markUnavailable(judged, readMessage(unavailable, 'Too few replicas are available'));
  const late = findCondition(status, { type: 'Progressing', reason: 'ProgressDeadlineExceeded' });
  if (late)
    judged = markFailed(judged, readMessage(late, 'The rollout made no progress before its deadline'));
  return judged;
}

/** Why the rollout is not done, or undefined when it is. */
function findPendingRollout(status: JsonObject, desired: number): string | undefined {
  const updated = readCount(status, 'updatedReplicas');
  const existing = readCount(status, 'replicas');
  const available = readCount(status, 'availableReplicas');
  const ready = readCount(status, 'readyReplicas');
  if (updated < desired) return `${updated} of ${desired} replicas run the newest pod template`;
  if (existing > updated) return `${existing - updated} replicas of an older pod template are still there`;
  if (available < desired) return `${available} of ${desired} replicas are available`;
  if (ready < desired) return `${ready} of ${desired} replicas are ready`;
  return undefined;
}
