import type { ObjectRef } from '../api/client.ts';
import { KubernetesApiError } from '../api/errors.ts';

/** The whole patch, as the API server quotes it in front of its reason. */
const quotedPatch = /patch: Invalid value: "[^"\\]*(?:\\.[^"\\]*)*": /gs;

/**
 * The API server's refusal of a patch without the whole patch, which it repeats. What it says of one field stays. Values of a
 * Secret never come so far: see `secret-refusal.ts`.
 */
export function hideValues(error: unknown, { resource, name }: ObjectRef): unknown {
  if (!(error instanceof KubernetesApiError)) return error;
  const message = error.message.replace(quotedPatch, '');
  if (message === error.message) return error;
  // A refused patch is of no kind and no name to the API server.
  const subject = `${resource.kind} "${name}" is invalid: `;
  return new KubernetesApiError(error.status, error.reason, message.replace(/^ "" is invalid: /, subject));
}

/** A limit of Kubernetes on all annotations of an object together, of which the record of the last apply takes most. */
const tooLongAnnotations = /metadata\.annotations: Too long/;

/** The API server's refusal of an object whose record of the last apply is too large, with what helps. */
export function adviseOnRecord(error: unknown): unknown {
  if (!(error instanceof KubernetesApiError) || !tooLongAnnotations.test(error.message)) return error;
  const advice =
    'it is too large for the record that an apply keeps in an annotation: the annotation ' +
    'strategy.spinnaker.io/server-side-apply: "true", or strategy.spinnaker.io/replace: "true", deploys it without one';
  const told = new KubernetesApiError(error.status, error.reason, `${error.message}; ${advice}`);
  return told.withDetails(error.details);
}
