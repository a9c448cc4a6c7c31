import { KubernetesApiError, KubernetesConnectionError } from '../api/errors.ts';
import { isExpired } from '../client/list-pages.ts';

/** Why a kind cannot be read on, or not now (`broken`). */
export type KindRefusal = 'expired' | 'forbidden' | 'gone' | 'broken';

/** What an error of a list or a watch means for its kind; undefined for one that no API server and no connection made. */
export function findRefusal(error: unknown): KindRefusal | undefined {
  if (error instanceof KubernetesConnectionError) return 'broken';
  if (!(error instanceof KubernetesApiError)) return undefined;
  if (isExpired(error)) return 'expired';
  if (error.status === 403) return 'forbidden';
  return error.status === 404 ? 'gone' : 'broken';
}

/** Where to go on after a refusal: what an expired resource version, or that of a kind that is gone, leads to is unknown. */
export function getResourceVersionAfter(
  refusal: KindRefusal,
  resourceVersion: string | undefined,
): string | undefined {
  return refusal === 'expired' || refusal === 'gone' ? undefined : resourceVersion;
}
