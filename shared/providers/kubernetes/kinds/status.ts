import type { ManifestStatus } from '#contract/answers/manifests.ts';

/** The status of an object, in Spinnaker's four conditions: see the schema. */
export type { ManifestStatus };

/** Nothing to wait for. */
export const settledStatus: ManifestStatus = {
  stable: { state: true },
  paused: { state: false },
  available: { state: true },
  failed: { state: false },
};

/** `getStatus` of every kind without a status of its own. */
export function getSettledStatus(): ManifestStatus {
  return settledStatus;
}

/**
 * The object has no status from its controller yet.
 *
 * This message and those of the kinds begin with Clouddriver's own sentence, which users' alerts search for, and add what else is known.
 */
export const unreportedStatus: ManifestStatus = {
  ...settledStatus,
  stable: { state: false, message: 'No status reported yet: its controller has not seen it' },
  available: { state: false, message: 'No availability reported: its controller has not seen it' },
};

/** `status`, not stable for the reason `message`. */
export function markUnstable(status: ManifestStatus, message: string): ManifestStatus {
  return { ...status, stable: { state: false, message } };
}

/** `status`, neither stable nor available for the reason `message`. */
export function markUnavailable(status: ManifestStatus, message: string): ManifestStatus {
  return { ...status, stable: { state: false, message }, available: { state: false, message } };
}

/** `status`, paused for the reason `message`. */
export function markPaused(status: ManifestStatus, message: string): ManifestStatus {
  return { ...status, paused: { state: true, message } };
}

/** `status` with a reason appended to its messages of being unstable and of having failed. Without a reason, `status` itself. */
export function explainStatus(status: ManifestStatus, reason: string | undefined): ManifestStatus {
  if (reason === undefined) return status;
  const { stable, failed } = status;
  const unstable = stable.state ? status : markUnstable(status, `${stable.message}; ${reason}`);
  return failed.state ? markFailed(unstable, `${failed.message}; ${reason}`) : unstable;
}

/** `status`, failed for the reason `message`. */
export function markFailed(status: ManifestStatus, message: string): ManifestStatus {
  return { ...status, failed: { state: true, message } };
}
