import {
  asJsonArray,
  asJsonObject,
  asString,
  getPath,
  type JsonObject,
  omitNulls,
} from '../../../core/json.ts';
import type { Manifest } from '../api/manifest.ts';
import { findCondition, findCount, findStatus } from '../kinds/live-object.ts';
import { readCreationTimestamp, readName, readNamespace } from '../manifest/identity.ts';

/** What a view of a Job is made of. */
export interface JobViewParts {
  readonly account: string;
  readonly job: Manifest;
  /** The Job's pods, in any order. */
  readonly pods: readonly Manifest[];
  /** Whether the pods are shown with their status. */
  readonly detailedPodStatus: boolean;
}

/** States of a Job, in Spinnaker's words. */
type JobState = 'Running' | 'Succeeded' | 'Failed';

/** A Job as `GET /applications/{application}/jobs/{account}/{location}/{id}` shows it. */
export function toJobView({ account, job, pods, detailedPodStatus }: JobViewParts): object {
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

/** The pods that a Job made, the most useful log first: of one that succeeded, else of the newest. */
export function sortByUse(pods: readonly Manifest[]): Manifest[] {
  const newestFirst = pods.toSorted(compareStart).reverse();
  const hasSucceeded = (pod: Manifest): boolean => getPath(pod, 'status', 'phase') === 'Succeeded';
  return [...newestFirst.filter(hasSucceeded), ...newestFirst.filter((pod) => !hasSucceeded(pod))];
}

function toPodView(pod: Manifest): object {
  return { name: readName(pod), status: omitNulls(pod.status ?? {}) };
}

/**
 * A Job has succeeded as often as it shall, or Kubernetes calls it complete, as it does by a success policy. What has neither
 * succeeded nor failed is running, be it that it waits.
 */
function readState(job: Manifest): JobState {
  const status = findStatus(job);
  const wanted = findCount(job.spec, 'completions') ?? 1;
  if (status === undefined) return 'Running';
  if ((findCount(status, 'succeeded') ?? 0) >= wanted) return 'Succeeded';
  if (findCondition(status, { type: 'Complete', status: 'True' })) return 'Succeeded';
  return findFailure(job) === undefined ? 'Running' : 'Failed';
}

function findFailure(job: Manifest): JsonObject | undefined {
  const status = findStatus(job);
  return status && findCondition(status, { type: 'Failed', status: 'True' });
}

function readWords(object: JsonObject | undefined): { message?: string; reason?: string } {
  const message = asString(object?.message);
  const reason = asString(object?.reason);
  return { ...(message !== undefined && { message }), ...(reason !== undefined && { reason }) };
}

/** Pods that have not started come last. */
function compareStart(one: Manifest, other: Manifest): number {
  const [left, right] = [one, other].map((pod) => asString(getPath(pod, 'status', 'startTime')) ?? '~');
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
  phase: 'terminated' | 'waiting',
  isFailure: (state: JsonObject) => boolean,
): string | undefined {
  for (const pod of pods) {
    for (const container of listContainerStatuses(pod)) {
      const state = asJsonObject(getPath(container, 'state', phase));
      if (state !== undefined && isFailure(state)) return describeContainer(pod, container, state);
    }
  }
  return undefined;
}

function listContainerStatuses(pod: Manifest): readonly JsonObject[] {
  return ['initContainerStatuses', 'containerStatuses']
    .flatMap((key) => asJsonArray(getPath(pod, 'status', key)))
    .map(asJsonObject)
    .filter((status) => status !== undefined);
}

/** How the container was executed, in the sentences of Clouddriver's `KubernetesJobStatus`; what is not known is left out. */
function describeContainer(pod: Manifest, container: JsonObject, state: JsonObject): string {
  const { message, reason } = readWords(state);
  const name = asString(container.name) ?? '';
  return [
    `Pod: '${readName(pod)}' had errors.`,
    ` Container: '${name}' exited with code: ${String(state.exitCode ?? 'none, it is waiting')}.`,
    ...(reason === undefined ? [] : [` Status: ${reason}.`]),
    ...(message === undefined ? [] : [` Logs: ${message}`]),
  ].join('\n');
}
