import type { V2HorizontalPodAutoscaler } from '@kubernetes/client-node';
import type { Manifest } from '../api/manifest.ts';
import { findStatus, readCount } from './live-object.ts';
import { type ManifestStatus, markUnstable, settledStatus, unreportedStatus } from './status.ts';

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
