import type { V1Pod } from '@kubernetes/client-node';
import { asString } from '#core/json.ts';
import type { Manifest } from '../api/manifest.ts';
import { describeCondition, findCondition, findStatus } from './live-object.ts';
import { type ManifestStatus, markUnavailable, settledStatus, unreportedStatus } from './status.ts';

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
