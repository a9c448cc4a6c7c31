import { getPath } from '#core/json.ts';
import type { Manifest } from '../api/manifest.ts';

/** What an apply did. */
export interface ApplyResult {
  /** The object as it is now. */
  readonly object: Manifest;
  /** `configured` even if the API server found nothing to change. */
  readonly outcome: 'created' | 'configured' | 'unchanged';
  /** What the user should know despite the success, one sentence each. */
  readonly warnings: readonly string[];
}

/** A warning if the changed object is being deleted. */
export function warnIfDeleting(object: Manifest): string[] {
  if (getPath(object, 'metadata', 'deletionTimestamp') === undefined) return [];
  return ['The object is being deleted: the change will go with it'];
}
