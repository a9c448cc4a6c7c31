import type {
  V1StatefulSet,
  V1StatefulSetStatus,
  V1StatefulSetUpdateStrategy,
} from '@kubernetes/client-node';
import { asJsonObject, asString } from '#core/json.ts';
import type { Manifest } from '../api/manifest.ts';
import { asUnchecked, type Unchecked, type UncheckedObject } from '../api/unchecked.ts';
import {
  checkAppsV1,
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

/** `spec.updateStrategy`. */
type Strategy = Unchecked<V1StatefulSetUpdateStrategy>;

/**
 * The status of a StatefulSet. With the update strategy `OnDelete` there is nothing to wait for: the pods must be deleted by hand.
 *
 * @throws FailedOperationError unless its apiVersion is `apps/v1`.
 */
export function getStatefulSetStatus(manifest: Manifest): ManifestStatus {
  checkAppsV1(manifest);
  const strategy = asUnchecked<V1StatefulSet>(manifest).spec?.updateStrategy;
  if (isOfType(strategy, 'OnDelete')) return settledStatus;
  const status = findStatus<V1StatefulSet>(manifest);
  if (status === undefined) return unreportedStatus;
  if (!isGenerationObserved(manifest, status)) {
    return markUnstable(settledStatus, describeOldGeneration('stateful set controller'));
  }
  const desired = readDesiredReplicas(manifest);
  const shortage = findShortage(status, desired);
  if (shortage !== undefined) return markUnstable(settledStatus, shortage);
  return judgePartitionedRollout(strategy, status) ?? judgeWholeRollout(status, desired);
}

/** Which replicas are missing, or undefined if none are. */
function findShortage(status: UncheckedObject<V1StatefulSetStatus>, desired: number): string | undefined {
  const existing = readCount(status.replicas);
  const ready = readCount(status.readyReplicas);
  if (existing < desired)
    return `Waiting for at least the desired replica count to be met: ${existing} of ${desired} exist`;
  if (ready < desired) return `Waiting for all updated replicas to be ready: ${ready} of ${desired} are`;
  return undefined;
}

/**
 * The status of a rolling update, in which a partition may hold back the lower ordinals; undefined if it has no settings. API servers fill
 * in the settings for every rolling update.
 */
function judgePartitionedRollout(
  strategy: Strategy,
  status: UncheckedObject<V1StatefulSetStatus>,
): ManifestStatus | undefined {
  const settings = strategy?.rollingUpdate;
  if (!isOfType(strategy, 'RollingUpdate') || asJsonObject(settings) === undefined) return undefined;
  const updated = readCount(status.updatedReplicas);
  const above = readCount(status.replicas) - readCount(settings?.partition);
  if (updated < above) {
    const counts = `${updated} of the ${above} replicas above the partition are updated`;
    return markUnstable(settledStatus, `Waiting for partitioned roll out to finish: ${counts}`);
  }
  return {
    ...settledStatus,
    stable: {
      state: true,
      message: 'Partitioned roll out complete: every replica above the partition is updated',
    },
  };
}

/** The status of an update without a partition: complete when the new revision has replaced the old one. */
function judgeWholeRollout(status: UncheckedObject<V1StatefulSetStatus>, desired: number): ManifestStatus {
  const current = readCount(status.currentReplicas);
  if (current < desired) {
    const counts = `${current} of ${desired} are of the current revision`;
    return markUnstable(settledStatus, `Waiting for all updated replicas to be scheduled: ${counts}`);
  }
  if (status.currentRevision === status.updateRevision) return settledStatus;
  return markUnstable(settledStatus, 'Waiting for the updated revision to match the current revision');
}

/** Whether the update strategy is of `type`, ignoring case. */
function isOfType(strategy: Strategy, type: string): boolean {
  return asString(strategy?.type)?.toLowerCase() === type.toLowerCase();
}
