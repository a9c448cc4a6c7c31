import { asJsonObject, asString, getPath, type JsonObject, type JsonValue } from '../../../core/json.ts';
import type { Manifest } from '../manifest/manifest.ts';
import {
  checkAppsV1,
  findCount,
  findStatus,
  isGenerationObserved,
  readCount,
  readDesiredReplicas,
} from './live-object.ts';
import { type ManifestStatus, markUnstable, settledStatus, unreportedStatus } from './status.ts';

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
    return markUnstable(
      settledStatus,
      'The newest spec has not been picked up by the stateful set controller yet',
    );
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
  if (existing < desired) return `${existing} of ${desired} replicas exist`;
  if (ready < desired) return `${ready} of ${desired} replicas are ready`;
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
    const message = `${updated} of the ${existing - partition} replicas above the partition are updated`;
    return markUnstable(settledStatus, message);
  }
  return {
    ...settledStatus,
    stable: { state: true, message: 'Every replica above the partition is updated' },
  };
}

/** The status of an update without a partition: done when the old revision has given way to the new one. */
function judgeWholeRollout(status: JsonObject, desired: number): ManifestStatus {
  const current = readCount(status, 'currentReplicas');
  if (current < desired) {
    return markUnstable(settledStatus, `${current} of ${desired} replicas are of the current revision`);
  }
  if (status.currentRevision === status.updateRevision) return settledStatus;
  return markUnstable(settledStatus, 'The updated revision has not become the current one yet');
}

/** Whether the update strategy is of `type`, whatever its case. */
function isOfType(strategy: JsonValue | undefined, type: string): boolean {
  return asString(getPath(strategy, 'type'))?.toLowerCase() === type.toLowerCase();
}
