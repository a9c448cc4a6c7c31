import type { V1CronJob } from '@kubernetes/client-node';
import type { Manifest } from '../api/manifest.ts';
import { findStatus } from './live-object.ts';
import { type ManifestStatus, settledStatus, unreportedStatus } from './status.ts';

/** The status of a CronJob: settled as soon as its controller has written any status. */
export function getCronJobStatus(manifest: Manifest): ManifestStatus {
  return findStatus<V1CronJob>(manifest) === undefined ? unreportedStatus : settledStatus;
}
