import type { V1DaemonSet, V1DaemonSetStatus } from '@kubernetes/client-node';
import { asString } from '#core/json.ts';
import type { Manifest } from '../api/manifest.ts';
import { asUnchecked, type UncheckedObject } from '../api/unchecked.ts';
import { checkAppsV1, findStatus, isGenerationObserved, readCount } from './live-object.ts';
import {
  describeOldGeneration,
  type ManifestStatus,
  markUnstable,
  settledStatus,
  unreportedStatus,
} from './status.ts';

/**
 * The status of a DaemonSet. Only a rolling update has progress to wait for.
 *
 * @throws FailedOperationError unless its apiVersion is `apps/v1`.
 */
export function getDaemonSetStatus(manifest: Manifest): ManifestStatus {
  checkAppsV1(manifest);
  const status = findStatus<V1DaemonSet>(manifest);
  if (status === undefined) return unreportedStatus;
  if (!isGenerationObserved(manifest, status)) {
    return markUnstable(settledStatus, describeOldGeneration('daemon set controller'));
  }
  const strategy = asString(asUnchecked<V1DaemonSet>(manifest).spec?.updateStrategy?.type);
  if (strategy?.toLowerCase() !== 'rollingupdate') return settledStatus;
  const shortage = findShortage(status);
  return shortage === undefined ? settledStatus : markUnstable(settledStatus, shortage);
}

/** On which nodes its pods are missing or old, or undefined if the rollout is complete. */
function findShortage(status: UncheckedObject<V1DaemonSetStatus>): string | undefined {
  const desired = readCount(status.desiredNumberScheduled);
  const scheduled = readCount(status.currentNumberScheduled);
  const updated = readCount(status.updatedNumberScheduled);
  const available = readCount(status.numberAvailable);
  const ready = readCount(status.numberReady);
  if (scheduled < desired)
    return `Waiting for all replicas to be scheduled: ${scheduled} of ${desired} nodes have one`;
  if (updated < desired)
    return `Waiting for all updated replicas to be scheduled: ${updated} of ${desired} nodes have one`;
  if (available < desired) return `Waiting for all replicas to be available: ${available} of ${desired} are`;
  if (ready < desired) return `Waiting for all replicas to be ready: ${ready} of ${desired} are`;
  return undefined;
}
