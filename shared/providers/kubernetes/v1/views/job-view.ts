import type { V1ContainerState, V1Pod } from '@kubernetes/client-node';
import type { V1JobView } from '#contract/answers/kubernetes-v1.ts';
import { parseServerGroupName } from '#core/frigga.ts';
import { asJsonObject, asString, omitNullMembers } from '#core/json.ts';
import type { Manifest } from '../../api/manifest.ts';
import { asUnchecked, findNumber, readList, type Unchecked } from '../../api/unchecked.ts';
import { readCreationTimestamp, readName, readNamespace } from '../../manifest/identity.ts';
import { cloudProvider } from '../../views/resource-view.ts';
import { findTime } from '../read/values.ts';

/** Reasons of a container that waits for ever, in lower case, besides those that mention an error. */
const hopelessReasons: readonly string[] = ['imagepullbackoff', 'registryunavailable'];

/** A job of a V1 account: a pod, whose first container decides its state. @param logs that container's log, for a job that has ended */
export function toV1JobView(account: string, pod: Manifest, logs?: string): V1JobView {
  const { status } = asUnchecked<V1Pod>(pod);
  const state = findFirstState(pod);
  const { terminated, waiting } = state ?? {};
  const name = readName(pod);
  const message = asString(terminated?.message ?? waiting?.message);
  const reason = asString(terminated?.reason ?? waiting?.reason);
  const exitCode = findNumber(terminated?.exitCode);
  const signal = findNumber(terminated?.signal);
  return {
    name,
    id: name,
    cluster: parseServerGroupName(name).cluster,
    account,
    location: readNamespace(pod),
    provider: cloudProvider,
    createdTime: findTime(readCreationTimestamp(pod)),
    completedTime: findTime(terminated?.finishedAt),
    jobState: getV1JobState(pod),
    ...(message !== undefined && { message }),
    ...(reason !== undefined && { reason }),
    ...(exitCode !== undefined && { exitCode }),
    ...(signal !== undefined && { signal }),
    completionDetails: {
      exitCode: toText(exitCode),
      signal: toText(signal),
      message: message ?? '',
      reason: reason ?? '',
    },
    ...(logs !== undefined && { logs }),
    pods: [{ name, status: omitNullMembers(asJsonObject(status) ?? {}) }],
    mostRecentPodName: name,
  };
}

/** The state of a job, by its first container. One that waits for something that will not come has failed. */
export function getV1JobState(pod: Manifest): V1JobView['jobState'] {
  const { running, waiting, terminated } = findFirstState(pod) ?? {};
  if (terminated)
    return terminated.exitCode === 0 && terminated.reason !== 'OOMKilled' ? 'Succeeded' : 'Failed';
  if (running) return 'Running';
  if (!waiting) return 'Unknown';
  const reason = asString(waiting.reason) ?? '';
  const isHopeless = reason.includes('Err') || hopelessReasons.includes(reason.toLowerCase());
  return isHopeless ? 'Failed' : 'Starting';
}

/** When a job has ended, epoch milliseconds; undefined while it has not, or if it is unknown. */
export function findJobEnd(pod: Manifest): number | undefined {
  return findTime(findFirstState(pod)?.terminated?.finishedAt);
}

function findFirstState(pod: Manifest): Unchecked<V1ContainerState> {
  const { status } = asUnchecked<V1Pod>(pod);
  return readList(status?.containerStatuses)[0]?.state;
}

function toText(value: number | undefined): string {
  return value === undefined ? '' : String(value);
}
