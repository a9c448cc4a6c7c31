import type { ObjectRef } from '../client/client.ts';
import { KubernetesApiError } from '../client/errors.ts';

/** The whole patch, as the API server quotes it in front of its reason. */
const quotedPatch = /patch: Invalid value: "[^"\\]*(?:\\.[^"\\]*)*": /gs;
/** What stood in the place of a text, as server-side apply shows it. */
const shownValue = /, got &value\..*$/s;

/**
 * The API server's refusal of a patch without the values it repeats: those of a Secret must not be seen. What a
 * refusal says of one field of any other kind stays.
 */
export function hideValues(error: unknown, { resource, name }: ObjectRef): unknown {
  if (!(error instanceof KubernetesApiError)) return error;
  const withoutPatch = error.message.replace(quotedPatch, '');
  const message = resource.kind === 'Secret' ? withoutPatch.replace(shownValue, '') : withoutPatch;
  if (message === error.message) return error;
  // A refused patch is of no kind and no name to the API server.
  const subject = `${resource.kind} "${name}" is invalid: `;
  return new KubernetesApiError(error.status, error.reason, message.replace(/^ "" is invalid: /, subject));
}
