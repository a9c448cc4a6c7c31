import { asJsonObject, asString, getPath, type JsonObject, type JsonValue } from '../../../core/json.ts';
import type { Manifest } from '../api/manifest.ts';
import {
  checkAppsV1,
  findCount,
  findStatus,
  isGenerationObserved,
  readCount,
  readDesiredReplicas,
} from './live-object.ts';
import {
  describeOldGeneration,
  type ManifestStatus,
  markUnstable,
  settledStatus,
  unreportedStatus,
} from './status.ts';

/**
 * The status of a StatefulSet. With the update strategy `OnDelete` there is nothing to wait for: somebody has to
 * delete the pods.
 *
 * @throws FailedOperationError unless its apiVersion is `apps/v1`.
 */
export function getStatefulSetStatus(manifest: Manifest): ManifestStatus {
  checkAppsV1(manifest);
  const strategy = getPath(manifest, 'spec', 'updateStrategy');
  if (isOfType(strategy, 'OnDelete')) return settledStatus;
  const status = findStatus(manifest);
  if (status === undefined) return unreportedStatus;
  if (!isGenerationObserved(manifest, status)) {
    return markUnstable(settledStatus, describeOldGeneration('stateful set controller'));
  }
  const desired = readDesiredReplicas(manifest);
  const shortage = findShortage(status, desired);
  if (shortage !== undefined) return markUnstable(settledStatus, shortage);
  return judgePartitionedRollout(strategy, status) ?? judgeWholeRollout(status, desired);
}

/** Which replicas are missing, or undefined when all are there. */
function findShortage(status: JsonObject, desired: number): string | undefined {
  const existing = readCount(status, 'replicas');
  const ready = readCount(status, 'readyReplicas');
  if (existing < desired)
    return `Waiting for at least the desired replica count to be met: ${existing} of ${desired} exist`;
  if (ready < desired) return `Waiting for all updated replicas to be ready: ${ready} of ${desired} are`;
  return undefined;
}

/**
 * The status of a rolling update, of which a partition may hold back the lower ordinals; undefined where Kubernetes
 * gives no settings for it or has not counted updated replicas. API servers fill the settings in for every rolling update.
 */
function judgePartitionedRollout(
  strategy: JsonValue | undefined,
  status: JsonObject,
): ManifestStatus | undefined {
  const settings = asJsonObject(getPath(strategy, 'rollingUpdate'));
  const updated = findCount(status, 'updatedReplicas');
  if (!isOfType(strategy, 'RollingUpdate') || settings === undefined || updated === undefined)
    return undefined;
  const partition = findCount(settings, 'partition');
  const existing = findCount(status, 'replicas');
  if (partition !== undefined && existing !== undefined && updated < existing - partition) {
    const above = `${updated} of the ${existing - partition} replicas above the partition are updated`;
    const message = `Waiting for partitioned roll out to finish: ${above}`;
    return markUnstable(settledStatus, message);
  }
  return {
    ...settledStatus,
    stable: {
      state: true,
      message: 'Partitioned roll out complete: every replica above the partition is updated',
    },
  };
}

/** The status of an update without a partition: done when the old revision has given way to the new one. */
function judgeWholeRollout(status: JsonObject, desired: number): ManifestStatus {
  const current = readCount(status, 'currentReplicas');
  if (current < desired) {
    const counts = `${current} of ${desired} are of the current revision`;
    return markUnstable(settledStatus, `Waiting for all updated replicas to be scheduled: ${counts}`);
  }
  if (status.currentRevision === status.updateRevision) return settledStatus;
  return markUnstable(settledStatus, 'Waiting for the updated revision to match the current revision');
}

/** Whether the update strategy is of `type`, whatever its case. */
function isOfType(strategy: JsonValue | undefined, type: string): boolean {
  return asString(getPath(strategy, 'type'))?.toLowerCase() === type.toLowerCase();
}
