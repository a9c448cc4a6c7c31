import type { V1Deployment, V1Pod } from '@kubernetes/client-node';
import { VisibleError } from '#core/errors.ts';
import type { KubernetesAccount } from '../account/account.ts';
import type { CallOptions, KubernetesClient } from '../api/client.ts';
import type { Manifest } from '../api/manifest.ts';
import { asUnchecked } from '../api/unchecked.ts';
import { describeCondition, findCondition, findStatus } from '../kinds/live-object.ts';
import { readKind, readNamespace } from '../manifest/identity.ts';
import { formatSelectors, readLabelSelector } from '../manifest/selectors.ts';
import { podResource } from './pod-logs.ts';

/**
 * Why a workload's pods get no node, such as a missing volume, in the words of the first such pod: the workload's own status does not say.
 * Undefined if none waits, if they cannot be read, and for kinds without pods.
 */
export async function findUnscheduled(
  workload: Manifest,
  { client, account }: { readonly client: KubernetesClient; readonly account: KubernetesAccount },
  options: CallOptions,
): Promise<string | undefined> {
  if (account.kindRegistry.find(readKind(workload)).replacers !== 'podTemplate') return undefined;
  const labelSelector = formatSelectors(
    readLabelSelector(asUnchecked<V1Deployment>(workload).spec?.selector),
  );
  if (labelSelector === '') return undefined;
  const fieldSelector = 'status.phase=Pending';
  const namespace = readNamespace(workload);
  try {
    const pods = await client.list(
      { resource: podResource, namespace, labelSelector, fieldSelector },
      options,
    );
    const waiting = pods.map((pod) =>
      findCondition(findStatus<V1Pod>(pod), { type: 'PodScheduled', status: 'False' }),
    );
    const first = waiting.find((condition) => condition !== undefined);
    return first && describeCondition(first);
  } catch (error) {
    if (error instanceof VisibleError) return undefined;
    throw error;
  }
}
