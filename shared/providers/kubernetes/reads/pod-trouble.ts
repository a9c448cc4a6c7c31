import type { V1ContainerStatus, V1Deployment, V1Pod } from '@kubernetes/client-node';
import { VisibleError } from '#core/errors.ts';
import { asString } from '#core/json.ts';
import type { KubernetesAccount } from '../account/account.ts';
import type { CallOptions, KubernetesClient } from '../api/client.ts';
import type { Manifest } from '../api/manifest.ts';
import { asUnchecked, readList, type Unchecked } from '../api/unchecked.ts';
import { describeCondition, findCondition, findStatus, readDesiredReplicas } from '../kinds/live-object.ts';
import { readKind, readName, readNamespace } from '../manifest/identity.ts';
import { formatSelectors, readLabelSelector } from '../manifest/selectors.ts';
import { podResource } from './pod-logs.ts';

/** Replicas of a workload at most whose running pods are looked at: each look reads all of them. */
const runningPodsMax = 100;

/** Reasons of containers that are about to start. */
const passing: readonly string[] = ['ContainerCreating', 'PodInitializing'];

/**
 * What keeps a workload's pods from being ready, of the first pod that says so: no node, such as for a missing volume, an image that cannot
 * be pulled, a container that crashes. The workload's own status does not say. Undefined if none says anything, if they cannot be read, and
 * for kinds without pods.
 */
export async function findPodTrouble(
  workload: Manifest,
  { client, account }: { readonly client: KubernetesClient; readonly account: KubernetesAccount },
  options: CallOptions,
): Promise<string | undefined> {
  if (account.kindRegistry.find(readKind(workload)).replacers !== 'podTemplate') return undefined;
  const labelSelector = formatSelectors(
    readLabelSelector(asUnchecked<V1Deployment>(workload).spec?.selector),
  );
  if (labelSelector === '') return undefined;
  const list = (phase: string) =>
    client.list(
      {
        ...{ resource: podResource, namespace: readNamespace(workload), labelSelector },
        fieldSelector: `status.phase=${phase}`,
      },
      options,
    );
  try {
    const pending = await list('Pending');
    const trouble = pending.map(findUnscheduled).find(Boolean) ?? pending.map(findWaiting).find(Boolean);
    if (trouble !== undefined || readDesiredReplicas(workload) > runningPodsMax) return trouble;
    return (await list('Running')).map(findWaiting).find(Boolean);
  } catch (error) {
    if (error instanceof VisibleError) return undefined;
    throw error;
  }
}

function findUnscheduled(pod: Manifest): string | undefined {
  const condition = findCondition(findStatus<V1Pod>(pod), { type: 'PodScheduled', status: 'False' });
  return condition && describeCondition(condition);
}

/** Why a container does not run, in the kubelet's words: `pod web-5c-x: container web: ImagePullBackOff: Back-off pulling …`. */
function findWaiting(pod: Manifest): string | undefined {
  const status = findStatus<V1Pod>(pod);
  const containers = [...readList(status?.initContainerStatuses), ...readList(status?.containerStatuses)];
  const words = containers.map(describeWaiting).find(Boolean);
  return words && `pod ${readName(pod)}: ${words}`;
}

function describeWaiting(status: Unchecked<V1ContainerStatus>): string | undefined {
  const waiting = status?.state?.waiting;
  const reason = asString(waiting?.reason) ?? '';
  if (reason === '' || passing.includes(reason)) return undefined;
  return [`container ${asString(status?.name) ?? ''}`, reason, asString(waiting?.message)]
    .filter(Boolean)
    .join(': ');
}
