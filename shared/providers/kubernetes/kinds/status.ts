/** One answer about an object, with the reason when there is one to tell. */
export interface StatusCondition {
  readonly state: boolean;
  readonly message?: string;
}

/**
 * How an object fares, in the four conditions Spinnaker knows. A pipeline waits until `stable`, and stops with
 * `failed.message` once `failed`.
 */
export interface ManifestStatus {
  readonly stable: StatusCondition;
  readonly paused: StatusCondition;
  readonly available: StatusCondition;
  readonly failed: StatusCondition;
}

/** Nothing to wait for: the status of every kind that has none of its own. */
export const settledStatus: ManifestStatus = {
  stable: { state: true },
  paused: { state: false },
  available: { state: true },
  failed: { state: false },
};

/**
 * The object has not got a status from its controller yet.
 *
 * This message and those of the kinds begin with Clouddriver's own sentence, which people's alerts look for, and go on with what
 * else is known.
 */
export const unreportedStatus: ManifestStatus = {
  ...settledStatus,
  stable: { state: false, message: 'No status reported yet: its controller has not seen it' },
  available: { state: false, message: 'No availability reported: its controller has not seen it' },
};

/** Why an object is unstable whose controller has not looked at its newest spec. @param controller `deployment controller` */
export function describeOldGeneration(controller: string): string {
  return `Waiting for status generation to match updated object generation: the ${controller} has not picked up the newest spec yet`;
}

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

/** `status`, failed for the reason `message`. */
export function markFailed(status: ManifestStatus, message: string): ManifestStatus {
  return { ...status, failed: { state: true, message } };
}
