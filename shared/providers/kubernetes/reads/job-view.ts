import type {
  V1ContainerState,
  V1ContainerStateTerminated,
  V1ContainerStatus,
  V1Job,
  V1Pod,
} from '@kubernetes/client-node';
import type { JobView } from '#contract/answers/jobs.ts';
import { asJsonObject, asString, isJsonObject, type JsonValue, omitNullMembers } from '#core/json.ts';
import type { Manifest } from '../api/manifest.ts';
import { asUnchecked, findNumber, readList, type UncheckedObject } from '../api/unchecked.ts';
import { type Condition, findCondition, findStatus, readCount } from '../kinds/live-object.ts';
import { readCreationTimestamp, readName, readNamespace } from '../manifest/identity.ts';

/** The parts of a view of a Job. */
export interface JobViewParts {
  readonly account: string;
  readonly job: Manifest;
  /** The Job's pods, in any order. */
  readonly pods: readonly Manifest[];
  /** Whether the pods are shown with their status. */
  readonly detailedPodStatus: boolean;
}

/** How a container ended, or why it waits; a waiting one has no exit code. */
type ContainerState = UncheckedObject<V1ContainerStateTerminated>;

/** A Job as `GET /applications/{application}/jobs/{account}/{location}/{id}` shows it. */
export function toJobView({ account, job, pods, detailedPodStatus }: JobViewParts): JobView {
  const state = readState(job);
  const failure = state === 'Failed' ? findFailure(job) : undefined;
  const { message, reason } = readWords(failure);
  const sorted = pods.toSorted(compareStart);
  const mostRecent = sorted.at(-1);
  const details = state === 'Failed' ? describeFailedPod(sorted) : undefined;
  return {
    name: readName(job),
    account,
    location: readNamespace(job),
    provider: 'kubernetes',
    createdTime: Date.parse(readCreationTimestamp(job)),
    jobState: state,
    completionDetails: { exitCode: '', signal: '', message: message ?? '', reason: reason ?? '' },
    ...(message !== undefined && { message }),
    ...(reason !== undefined && { reason }),
    ...(details !== undefined && { failureDetails: details }),
    ...(mostRecent && { mostRecentPodName: readName(mostRecent) }),
    pods: detailedPodStatus ? sorted.map(toPodView) : [],
  };
}

/** A Job's pods, the one with the most useful log first: one that succeeded, else the newest. */
export function sortByUse(pods: readonly Manifest[]): Manifest[] {
  const newestFirst = pods.toSorted(compareStart).reverse();
  const hasSucceeded = (pod: Manifest): boolean => asUnchecked<V1Pod>(pod).status?.phase === 'Succeeded';
  return [...newestFirst.filter(hasSucceeded), ...newestFirst.filter((pod) => !hasSucceeded(pod))];
}

function toPodView(pod: Manifest): JobView['pods'][number] {
  return { name: readName(pod), status: omitNullMembers(asJsonObject(pod.status) ?? {}) };
}

/**
 * A Job has succeeded if it has enough completions, or if Kubernetes calls it complete, as with a success policy. A Job that has neither
 * succeeded nor failed is running, even while it waits.
 */
function readState(job: Manifest): JobView['jobState'] {
  const status = findStatus<V1Job>(job);
  const wanted = findNumber(asUnchecked<V1Job>(job).spec?.completions) ?? 1;
  if (status === undefined) return 'Running';
  if (readCount(status.succeeded) >= wanted) return 'Succeeded';
  if (findCondition(status, { type: 'Complete', status: 'True' })) return 'Succeeded';
  return findFailure(job) === undefined ? 'Running' : 'Failed';
}

function findFailure(job: Manifest): UncheckedObject<Condition> | undefined {
  const status = findStatus<V1Job>(job);
  return status && findCondition(status, { type: 'Failed', status: 'True' });
}

/** The texts that people see of a condition or of a container's state. */
interface Words {
  readonly message?: JsonValue | undefined;
  readonly reason?: JsonValue | undefined;
}

function readWords(object: Words | undefined): { message?: string; reason?: string } {
  const message = asString(object?.message);
  const reason = asString(object?.reason);
  return { ...(message !== undefined && { message }), ...(reason !== undefined && { reason }) };
}

/** Pods that have not started come last. */
function compareStart(one: Manifest, other: Manifest): number {
  const [left, right] = [one, other].map((pod) => asString(asUnchecked<V1Pod>(pod).status?.startTime) ?? '~');
  if (left === right) return 0;
  return (left ?? '') < (right ?? '') ? -1 : 1;
}

/** Why the first pod with an ended or waiting container did not do its work. */
function describeFailedPod(pods: readonly Manifest[]): string | undefined {
  return (
    findContainerFailure(pods, 'terminated', (state) => Number(state.exitCode) !== 0) ??
    findContainerFailure(pods, 'waiting', () => true)
  );
}

function findContainerFailure(
  pods: readonly Manifest[],
  phase: keyof Pick<V1ContainerState, 'terminated' | 'waiting'>,
  isFailure: (state: ContainerState) => boolean,
): string | undefined {
  for (const pod of pods) {
    for (const container of listContainerStatuses(pod)) {
      const state: ContainerState | null | undefined = container.state?.[phase];
      if (isJsonObject(state) && isFailure(state)) return describeContainer(pod, container, state);
    }
  }
  return undefined;
}

function listContainerStatuses(pod: Manifest): readonly UncheckedObject<V1ContainerStatus>[] {
  const { status } = asUnchecked<V1Pod>(pod);
  const statuses = [...readList(status?.initContainerStatuses), ...readList(status?.containerStatuses)];
  return statuses.filter(isJsonObject);
}

/** How the container was executed, in the sentences of Clouddriver's `KubernetesJobStatus`; omits what is unknown. */
function describeContainer(
  pod: Manifest,
  container: UncheckedObject<V1ContainerStatus>,
  state: ContainerState,
): string {
  const { message, reason } = readWords(state);
  const name = asString(container.name) ?? '';
  return [
    `Pod: '${readName(pod)}' had errors.`,
    ` Container: '${name}' exited with code: ${String(state.exitCode ?? 'none, it is waiting')}.`,
    ...(reason === undefined ? [] : [` Status: ${reason}.`]),
    ...(message === undefined ? [] : [` Logs: ${message}`]),
  ].join('\n');
}
