import { asString, getPath, type JsonObject } from '../../../core/json.ts';
import type { Manifest } from '../manifest/manifest.ts';
import { checkAppsV1, findStatus, isGenerationObserved, readCount } from './live-object.ts';
import { type ManifestStatus, markUnstable, settledStatus, unreportedStatus } from './status.ts';

/**
 * The status of a DaemonSet. Only a rolling update has progress to wait for.
 *
 * @throws FailedOperationError unless its apiVersion is `apps/v1`.
 */
export function getDaemonSetStatus(manifest: Manifest): ManifestStatus {
  checkAppsV1(manifest);
  const status = findStatus(manifest);
  if (status === undefined) return unreportedStatus;
  if (!isGenerationObserved(manifest, status)) {
    return markUnstable(
      settledStatus,
      'The newest spec has not been picked up by the daemon set controller yet',
    );
  }
  const strategy = asString(getPath(manifest, 'spec', 'updateStrategy', 'type'));
  if (strategy?.toLowerCase() !== 'rollingupdate') return settledStatus;
  const shortage = findShortage(status);
  return shortage === undefined ? settledStatus : markUnstable(settledStatus, shortage);
}

/** On which nodes its pods are missing or old, or undefined when all is done. */
function findShortage(status: JsonObject): string | undefined {
  const desired = readCount(status, 'desiredNumberScheduled');
  const scheduled = readCount(status, 'currentNumberScheduled');
  const updated = readCount(status, 'updatedNumberScheduled');
  const available = readCount(status, 'numberAvailable');
  const ready = readCount(status, 'numberReady');
  if (scheduled < desired) return `${scheduled} of ${desired} nodes have a pod scheduled`;
  if (updated < desired) return `${updated} of ${desired} nodes run the newest pod template`;
  if (available < desired) return `${available} of ${desired} nodes have an available pod`;
  if (ready < desired) return `${ready} of ${desired} nodes have a ready pod`;
  return undefined;
}
