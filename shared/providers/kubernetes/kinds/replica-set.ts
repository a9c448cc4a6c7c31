import type { V1ReplicaSet, V1ReplicaSetStatus } from '@kubernetes/client-node';
import type { Manifest } from '../api/manifest.ts';
import type { UncheckedObject } from '../api/unchecked.ts';
import {
  checkAppsV1,
  findReplicaFailure,
  findStatus,
  isGenerationObserved,
  readCount,
  readDesiredReplicas,
} from './live-object.ts';
import {
  explainStatus,
  type ManifestStatus,
  markUnavailable,
  markUnstable,
  settledStatus,
  unreportedStatus,
} from './status.ts';

/**
 * The status of a ReplicaSet: with too few replicas it is neither stable nor available.
 *
 * @throws FailedOperationError unless its apiVersion is `apps/v1`.
 */
export function getReplicaSetStatus(manifest: Manifest): ManifestStatus {
  checkAppsV1(manifest);
  const status = findStatus<V1ReplicaSet>(manifest);
  if (status === undefined) return unreportedStatus;
  const shortage = findShortage(status, readDesiredReplicas(manifest));
  if (shortage !== undefined)
    return explainStatus(markUnavailable(settledStatus, shortage), findReplicaFailure(status));
  if (isGenerationObserved(manifest, status)) return settledStatus;
  return markUnstable(
    settledStatus,
    'Waiting for replicaset spec update to be observed: the replica set controller has not picked it up yet',
  );
}

/** Which replicas are missing, or undefined if none are. */
function findShortage(status: UncheckedObject<V1ReplicaSetStatus>, desired: number): string | undefined {
  const labeled = readCount(status.fullyLabeledReplicas);
  const ready = readCount(status.readyReplicas);
  const available = readCount(status.availableReplicas);
  if (labeled < desired) return `Waiting for all replicas to be fully-labeled: ${labeled} of ${desired} are`;
  if (ready < desired) return `Waiting for all replicas to be ready: ${ready} of ${desired} are`;
  if (available < desired) return `Waiting for all replicas to be available: ${available} of ${desired} are`;
  return undefined;
}
