import type {
  KubernetesObject,
  V1CustomResourceDefinition,
  V1DaemonSet,
  V1Deployment,
  V1Job,
  V1PersistentVolumeClaim,
  V1Pod,
  V1PodStatus,
  V1ReplicaSet,
  V1Service,
  V1StatefulSet,
} from '@kubernetes/client-node';
import { asString } from '#core/json.ts';
import type { Manifest } from '../api/manifest.ts';
import { asUnchecked, findNumber, readList, type UncheckedObject } from '../api/unchecked.ts';
import { type Condition, findCondition, readCount, readMessage } from './live-object.ts';

/** The readiness of an object by the rules of kstatus. */
export interface Readiness {
  /** `current`: there is nothing to wait for. `failed`: waiting is useless until something is changed. */
  readonly state: 'current' | 'inProgress' | 'failed';
  /** A readable reason; empty for `current`. */
  readonly message: string;
}

/** The members that are checked in objects of any kind. */
interface AnyKind {
  readonly metadata: { readonly deletionTimestamp: string; readonly generation: number };
  readonly status: { readonly observedGeneration: number; readonly conditions: readonly Condition[] };
}

/** Judges an object. @param nowMs wall time in milliseconds */
type Rule = (object: Manifest, nowMs: number) => Readiness;

/** How long after its creation an unschedulable pod does not count as failed, milliseconds. */
const scheduleWindowMs = 15_000;

const current: Readiness = { state: 'current', message: '' };
const inProgress = (message: string): Readiness => ({ state: 'inProgress', message });
const fail = (message: string): Readiness => ({ state: 'failed', message });

/** Kinds for which kstatus has its own rules, by group and kind. */
const rules: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ['/Service', judgeService],
  ['/Pod', judgePod],
  ['/PersistentVolumeClaim', judgeClaim],
  ['/Secret', () => current],
  ['/ConfigMap', () => current],
  ['apps/StatefulSet', judgeStatefulSet],
  ['apps/DaemonSet', judgeDaemonSet],
  ['apps/Deployment', judgeDeployment],
  ['apps/ReplicaSet', judgeReplicaSet],
  ['policy/PodDisruptionBudget', () => current],
  ['batch/CronJob', () => current],
  ['batch/Job', judgeJob],
  ['apiextensions.k8s.io/CustomResourceDefinition', judgeDefinition],
]);

/**
 * Judges a live object by the rules of kstatus (sigs.k8s.io/cli-utils/pkg/kstatus): the members that any object may have, then the rule of
 * its kind, or else its condition `Ready`. It is stricter in one point: a Service of type LoadBalancer is not ready until it has an
 * address, not only a cluster IP.
 *
 * @param nowMs wall time in milliseconds
 */
export function judgeReadiness(object: Manifest, nowMs: number): Readiness {
  const judged = judgeAnyKind(object);
  if (judged !== undefined) return judged;
  const rule = rules.get(
    `${readGroup(object)}/${asString(asUnchecked<KubernetesObject>(object).kind) ?? ''}`,
  );
  return rule === undefined ? judgeReadyCondition(object) : rule(object, nowMs);
}

/** Judges by the members that any object may have; undefined if they do not decide. */
function judgeAnyKind(object: Manifest): Readiness | undefined {
  const { metadata, status } = asUnchecked<AnyKind>(object);
  if (asString(metadata?.deletionTimestamp)) return inProgress('It is being deleted');
  const generation = findNumber(metadata?.generation);
  const observed = findNumber(status?.observedGeneration);
  if (generation !== undefined && observed !== undefined && observed !== generation)
    return inProgress(`Its controller has seen generation ${observed}, and it is at ${generation}`);
  const reconciling = findCondition(status, { type: 'Reconciling', status: 'True' });
  if (reconciling) return inProgress(readMessage(reconciling, 'It is being reconciled'));
  const stalled = findCondition(status, { type: 'Stalled', status: 'True' });
  return stalled && fail(readMessage(stalled, 'Its controller makes no progress'));
}

/** Most custom resources have this condition. Without it there is nothing to wait for. */
function judgeReadyCondition(object: Manifest): Readiness {
  const { status } = asUnchecked<AnyKind>(object);
  const ready = findCondition(status, { type: 'Ready' });
  if (ready === undefined || asString(ready.status) === 'True') return current;
  return inProgress(readMessage(ready, `Its condition Ready is ${asString(ready.status) ?? 'not told'}`));
}

function judgeService(object: Manifest): Readiness {
  const { spec, status } = asUnchecked<V1Service>(object);
  if (spec?.type !== 'LoadBalancer') return current;
  if (!asString(spec.clusterIP)) return inProgress('The Service has no cluster IP yet');
  const addresses = readList(status?.loadBalancer?.ingress);
  return addresses.length > 0 ? current : inProgress('The load balancer of the Service has no address yet');
}

function judgeClaim(object: Manifest): Readiness {
  const { status } = asUnchecked<V1PersistentVolumeClaim>(object);
  if (status?.phase === 'Bound') return current;
  return inProgress(`The claim is not bound: its phase is ${asString(status?.phase) || 'unknown'}`);
}

function judgePod(object: Manifest, nowMs: number): Readiness {
  const pod = asUnchecked<V1Pod>(object);
  switch (pod.status?.phase) {
    case 'Succeeded':
    case 'Failed':
      return current;
    case 'Running':
      return judgeRunningPod(pod.status);
    case 'Pending':
      return judgePendingPod(pod, nowMs);
    default:
      return inProgress('The phase of the pod is not known');
  }
}

function judgeRunningPod(status: UncheckedObject<V1PodStatus>): Readiness {
  if (findCondition(status, { type: 'Ready', status: 'True' })) return current;
  const crashing = readList(status.containerStatuses)
    .filter((each) => each?.state?.waiting?.reason === 'CrashLoopBackOff')
    .map((each) => asString(each?.name) ?? '');
  if (crashing.length > 0) return fail(`Containers crash again and again: ${crashing.join(', ')}`);
  return inProgress('The pod runs, but is not ready');
}

function judgePendingPod({ metadata, status }: UncheckedObject<V1Pod>, nowMs: number): Readiness {
  const unscheduled = findCondition(status, {
    type: 'PodScheduled',
    status: 'False',
    reason: 'Unschedulable',
  });
  if (unscheduled === undefined) return inProgress('The pod is pending');
  const message = `The pod cannot be scheduled: ${readMessage(unscheduled, 'no reason is given')}`;
  const createdMs = Date.parse(asString(metadata?.creationTimestamp) ?? '');
  return nowMs - createdMs < scheduleWindowMs ? inProgress(message) : fail(message);
}

function judgeDeployment(object: Manifest): Readiness {
  const { spec, status } = asUnchecked<V1Deployment>(object);
  const progressing = findCondition(status, { type: 'Progressing' });
  if (progressing?.reason === 'ProgressDeadlineExceeded')
    return fail(readMessage(progressing, 'The progress deadline is exceeded'));
  const desired = readDesired(object);
  const [existing, updated] = [readCount(status?.replicas), readCount(status?.updatedReplicas)];
  const short =
    findShortage('exist', existing, desired) ??
    findShortage('are updated', updated, desired) ??
    findSurplus(existing, desired) ??
    findShortage('are available', readCount(status?.availableReplicas), updated) ??
    findShortage('are ready', readCount(status?.readyReplicas), desired);
  if (short !== undefined) return short;
  // Without a deadline the controller writes no condition Progressing.
  const deadline = findNumber(spec?.progressDeadlineSeconds) ?? 2 ** 31 - 1;
  const isDone = progressing?.status === 'True' && progressing.reason === 'NewReplicaSetAvailable';
  if (deadline !== 2 ** 31 - 1 && !isDone) return inProgress('The new ReplicaSet is not available');
  const isAvailable = findCondition(status, { type: 'Available', status: 'True' }) !== undefined;
  return isAvailable ? current : inProgress('The Deployment is not available');
}

function judgeReplicaSet(object: Manifest): Readiness {
  const { status } = asUnchecked<V1ReplicaSet>(object);
  const failure = findCondition(status, { type: 'ReplicaFailure', status: 'True' });
  if (failure) return inProgress(`Replicas cannot be made: ${readMessage(failure, 'no reason is given')}`);
  const desired = readDesired(object);
  return (
    findShortage('have all labels', readCount(status?.fullyLabeledReplicas), desired) ??
    findShortage('are available', readCount(status?.availableReplicas), desired) ??
    findShortage('are ready', readCount(status?.readyReplicas), desired) ??
    findSurplus(readCount(status?.replicas), desired) ??
    current
  );
}

function judgeStatefulSet(object: Manifest): Readiness {
  const { spec, status } = asUnchecked<V1StatefulSet>(object);
  const strategy = spec?.updateStrategy;
  if (strategy?.type === 'OnDelete') return current;
  const desired = readDesired(object);
  const partition = findNumber(strategy?.rollingUpdate?.partition);
  const short =
    findShortage('exist', readCount(status?.replicas), desired) ??
    findShortage('are ready', readCount(status?.readyReplicas), desired) ??
    findSurplus(readCount(status?.replicas), desired);
  if (short !== undefined) return short;
  if (partition !== undefined)
    return findShortage('are updated', readCount(status?.updatedReplicas), desired - partition) ?? current;
  const isCurrent = status?.currentRevision === status?.updateRevision;
  return (
    findShortage('are of the current revision', readCount(status?.currentReplicas), desired) ??
    (isCurrent ? current : inProgress('The updated revision is not the current one yet'))
  );
}

function judgeDaemonSet(object: Manifest): Readiness {
  const { metadata, status } = asUnchecked<V1DaemonSet>(object);
  const desired = findNumber(status?.desiredNumberScheduled);
  const isSeen =
    findNumber(metadata?.generation) !== undefined && findNumber(status?.observedGeneration) !== undefined;
  if (!isSeen || desired === undefined) return inProgress('Its controller has not seen it yet');
  return (
    findShortage('are scheduled', readCount(status?.currentNumberScheduled), desired) ??
    findShortage('are updated', readCount(status?.updatedNumberScheduled), desired) ??
    findShortage('are available', readCount(status?.numberAvailable), desired) ??
    findShortage('are ready', readCount(status?.numberReady), desired) ??
    current
  );
}

/** A running Job is current; Clouddriver's own rule waits for its end. */
function judgeJob(object: Manifest): Readiness {
  const { status } = asUnchecked<V1Job>(object);
  const isOver = ['Complete', 'Suspended'].some((type) => findCondition(status, { type, status: 'True' }));
  if (isOver) return current;
  const failure = findCondition(status, { type: 'Failed', status: 'True' });
  if (failure) return fail(readMessage(failure, 'The job has failed'));
  return asString(status?.startTime) ? current : inProgress('The job has not started');
}

function judgeDefinition(object: Manifest): Readiness {
  const { status } = asUnchecked<V1CustomResourceDefinition>(object);
  const refused = findCondition(status, { type: 'NamesAccepted', status: 'False' });
  if (refused) return fail(readMessage(refused, 'The names of the definition are not accepted'));
  const established = findCondition(status, { type: 'Established' });
  if (established?.status === 'True') return current;
  if (established?.status === 'False' && established.reason !== 'Installing')
    return fail(readMessage(established, 'The definition is not established'));
  return inProgress('The definition is not established yet');
}

/** `spec.replicas`, of which Kubernetes' default is 1. */
function readDesired(object: Manifest): number {
  return findNumber(asUnchecked<V1Deployment>(object).spec?.replicas) ?? 1;
}

function findShortage(what: string, count: number, desired: number): Readiness | undefined {
  return count < desired ? inProgress(`${count} of ${desired} replicas ${what}`) : undefined;
}

function findSurplus(existing: number, desired: number): Readiness | undefined {
  return existing > desired
    ? inProgress(`${existing - desired} replicas too many are still there`)
    : undefined;
}

function readGroup(object: Manifest): string {
  const { apiVersion } = asUnchecked<KubernetesObject>(object);
  const parts = (asString(apiVersion) ?? '').split('/');
  return parts.length > 1 ? (parts[0] ?? '') : '';
}
