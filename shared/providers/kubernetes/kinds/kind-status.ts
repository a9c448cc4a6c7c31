import type {
  V1CronJob,
  V1DaemonSet,
  V1Deployment,
  V1DeploymentStatus,
  V1Job,
  V1Pod,
  V1ReplicaSet,
  V1StatefulSet,
  V1StatefulSetStatus,
  V1StatefulSetUpdateStrategy,
  V2HorizontalPodAutoscaler,
} from '@kubernetes/client-node';
import { asJsonObject, asString, type JsonValue } from '#core/json.ts';
import type { Manifest } from '../api/manifest.ts';
import { asUnchecked, findNumber, type Unchecked, type UncheckedObject } from '../api/unchecked.ts';
import {
  checkAppsV1,
  describeCondition,
  findCondition,
  findReplicaFailure,
  findStatus,
  isGenerationObserved,
  readCount,
  readDesiredReplicas,
  readMessage,
} from './live-object.ts';
import {
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
 * @throws FailedOperationError unless its apiVersion is `apps/v1`, as for the other workloads
 */
export function getDeploymentStatus(manifest: Manifest): ManifestStatus {
  checkAppsV1(manifest);
  const status = findStatus<V1Deployment>(manifest);
  if (status === undefined) return unreportedStatus;
  if (!isGenerationObserved(manifest, status)) return tellOldGeneration('deployment controller');
  const updated = readCount(status.updatedReplicas);
  const old = readCount(status.replicas) - updated;
  const find = createShortageFinder(readDesiredReplicas(manifest));
  const pending =
    find('all replicas to be updated', updated, 'replicas run the newest pod template') ??
    (old > 0
      ? `Waiting for old replicas to finish termination: ${old} of an older pod template are there`
      : find('all replicas to be available', status.availableReplicas)) ??
    find('all replicas to be ready', status.readyReplicas);
  return explainStatus(markIfPending(judgeConditions(status), pending), findReplicaFailure(status));
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

/** The status of a ReplicaSet: with too few replicas it is neither stable nor available. */
export function getReplicaSetStatus(manifest: Manifest): ManifestStatus {
  checkAppsV1(manifest);
  const status = findStatus<V1ReplicaSet>(manifest);
  if (status === undefined) return unreportedStatus;
  const find = createShortageFinder(readDesiredReplicas(manifest));
  const shortage =
    find('all replicas to be fully-labeled', status.fullyLabeledReplicas) ??
    find('all replicas to be ready', status.readyReplicas) ??
    find('all replicas to be available', status.availableReplicas);
  if (shortage !== undefined)
    return explainStatus(markUnavailable(settledStatus, shortage), findReplicaFailure(status));
  if (isGenerationObserved(manifest, status)) return settledStatus;
  return markUnstable(
    settledStatus,
    'Waiting for replicaset spec update to be observed: the replica set controller has not picked it up yet',
  );
}

/** The status of a DaemonSet. Only a rolling update has progress to wait for. */
export function getDaemonSetStatus(manifest: Manifest): ManifestStatus {
  checkAppsV1(manifest);
  const status = findStatus<V1DaemonSet>(manifest);
  if (status === undefined) return unreportedStatus;
  if (!isGenerationObserved(manifest, status)) return tellOldGeneration('daemon set controller');
  const strategy = asString(asUnchecked<V1DaemonSet>(manifest).spec?.updateStrategy?.type);
  if (strategy?.toLowerCase() !== 'rollingupdate') return settledStatus;
  const find = createShortageFinder(readCount(status.desiredNumberScheduled));
  const shortage =
    find('all replicas to be scheduled', status.currentNumberScheduled, 'nodes have one') ??
    find('all updated replicas to be scheduled', status.updatedNumberScheduled, 'nodes have one') ??
    find('all replicas to be available', status.numberAvailable) ??
    find('all replicas to be ready', status.numberReady);
  return markIfPending(settledStatus, shortage);
}

/** `spec.updateStrategy`. */
type Strategy = Unchecked<V1StatefulSetUpdateStrategy>;

/** The status of a StatefulSet. With the update strategy `OnDelete` there is nothing to wait for: the pods must be deleted by hand. */
export function getStatefulSetStatus(manifest: Manifest): ManifestStatus {
  checkAppsV1(manifest);
  const strategy = asUnchecked<V1StatefulSet>(manifest).spec?.updateStrategy;
  if (isOfType(strategy, 'OnDelete')) return settledStatus;
  const status = findStatus<V1StatefulSet>(manifest);
  if (status === undefined) return unreportedStatus;
  if (!isGenerationObserved(manifest, status)) return tellOldGeneration('stateful set controller');
  const find = createShortageFinder(readDesiredReplicas(manifest));
  const shortage =
    find('at least the desired replica count to be met', status.replicas, 'exist') ??
    find('all updated replicas to be ready', status.readyReplicas);
  if (shortage !== undefined) return markUnstable(settledStatus, shortage);
  const partitioned = judgePartitionedRollout(strategy, status);
  if (partitioned !== undefined) return partitioned;
  const old = find(
    'all updated replicas to be scheduled',
    status.currentReplicas,
    'are of the current revision',
  );
  if (old !== undefined) return markUnstable(settledStatus, old);
  if (status.currentRevision === status.updateRevision) return settledStatus;
  return markUnstable(settledStatus, 'Waiting for the updated revision to match the current revision');
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

/** Whether the update strategy is of `type`, ignoring case. */
function isOfType(strategy: Strategy, type: string): boolean {
  return asString(strategy?.type)?.toLowerCase() === type.toLowerCase();
}

/** A function that says what a rollout waits for as long as a count is below the desired one. */
function createShortageFinder(desired: number) {
  return (what: string, value: JsonValue | undefined, are = 'are'): string | undefined => {
    const count = readCount(value);
    return count < desired ? `Waiting for ${what}: ${count} of ${desired} ${are}` : undefined;
  };
}

function markIfPending(status: ManifestStatus, pending: string | undefined): ManifestStatus {
  return pending === undefined ? status : markUnstable(status, pending);
}

/** The status of an object whose controller has not seen its newest spec. */
function tellOldGeneration(controller: string): ManifestStatus {
  return markUnstable(
    settledStatus,
    `Waiting for status generation to match updated object generation: the ${controller} has not picked up the newest spec yet`,
  );
}

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
