import type { KubernetesAccount } from '../account/account.ts';
import type { Manifest } from '../api/manifest.ts';
import { judgeReadiness } from '../kinds/kstatus.ts';
import { type ManifestStatus, markFailed, markUnstable } from '../kinds/status.ts';
import { readKind } from '../manifest/identity.ts';
import { readReadinessRules } from '../manifest/readiness.ts';

/** The input for an object's status. */
export interface StatusParts {
  readonly account: Pick<KubernetesAccount, 'kindRegistry' | 'readiness'>;
  /** Wall time in milliseconds. */
  readonly nowMs: number;
}

/**
 * The status of a live object: by Clouddriver's rules, or by the stricter of these and kstatus if it or its account asks for kstatus.
 *
 * @throws FailedOperationError for an apiVersion whose status cannot be read.
 */
export function getObjectStatus(object: Manifest, { account, nowMs }: StatusParts): ManifestStatus {
  const status = account.kindRegistry.find(readKind(object)).getStatus(object);
  if ((readReadinessRules(object) ?? account.readiness) !== 'kstatus') return status;
  const { state, message } = judgeReadiness(object, nowMs);
  if (state === 'current') return status;
  // Clouddriver's own sentence comes first, and counts the same replicas.
  const unstable = status.stable.state ? markUnstable(status, message) : status;
  return state === 'failed' && !status.failed.state ? markFailed(unstable, message) : unstable;
}
