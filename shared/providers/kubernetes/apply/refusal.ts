import type { ObjectRef } from '../api/client.ts';
import { KubernetesApiError } from '../api/errors.ts';

/** The whole patch, as the API server quotes it before its reason. */
const quotedPatch = /patch: Invalid value: "[^"\\]*(?:\\.[^"\\]*)*": /gs;

/**
 * The API server's refusal of a patch, without the whole patch that it repeats. What it says of single fields stays. Values of a Secret
 * never get this far: see `secret-refusal.ts`.
 */
export function hideValues(error: unknown, { resource, name }: ObjectRef): unknown {
  if (!(error instanceof KubernetesApiError)) return error;
  const message = error.message.replace(quotedPatch, '');
  if (message === error.message) return error;
  // The API server names no kind and no name for a refused patch.
  const subject = `${resource.kind} "${name}" is invalid: `;
  return new KubernetesApiError(error.status, error.reason, message.replace(/^ "" is invalid: /, subject));
}

/** Kubernetes' limit on all annotations of an object together, most of which is the record of the last apply. */
const tooLongAnnotations = /metadata\.annotations: Too long/;

/** The API server's refusal of an object whose record of the last apply is too large, with advice. */
export function adviseOnRecord(error: unknown): unknown {
  if (!(error instanceof KubernetesApiError) || !tooLongAnnotations.test(error.message)) return error;
  const advice =
    'it is too large for the record that an apply keeps in an annotation: the annotation ' +
    'strategy.spinnaker.io/server-side-apply: "true", or strategy.spinnaker.io/replace: "true", deploys it without one';
  const told = new KubernetesApiError(error.status, error.reason, `${error.message}; ${advice}`);
  return told.withDetails(error.details);
}
