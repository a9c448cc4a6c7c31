import { KubernetesApiError, KubernetesConnectionError } from '../api/errors.ts';
import { isExpired } from '../client/list-pages.ts';

/** Why reading a kind cannot continue, or not now (`broken`). */
export type KindRefusal = 'expired' | 'forbidden' | 'gone' | 'broken';

/** What an error of a list or a watch means for its kind; undefined for one that is not from an API server or a connection. */
export function findRefusal(error: unknown): KindRefusal | undefined {
  if (error instanceof KubernetesConnectionError) return 'broken';
  if (!(error instanceof KubernetesApiError)) return undefined;
  if (isExpired(error)) return 'expired';
  if (error.status === 403) return 'forbidden';
  return error.status === 404 ? 'gone' : 'broken';
}

/** Where to continue after a refusal: unknown after an expired resource version, or for a kind that is gone. */
export function getResourceVersionAfter(
  refusal: KindRefusal,
  resourceVersion: string | undefined,
): string | undefined {
  return refusal === 'expired' || refusal === 'gone' ? undefined : resourceVersion;
}
