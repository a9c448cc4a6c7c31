import type { PlainCall } from './plain-calls.ts';

/** What somebody may want to do, as a SelfSubjectAccessReview names it. */
export interface AccessAttributes {
  readonly verb: string;
  /** Empty for Kubernetes' own. */
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string | undefined;
  /** Default: all. */
  readonly namespace?: string | undefined;
}

/** The call that asks whether its user may do something, as `kubectl auth can-i` does: `status.allowed` in its answer. */
export function toAccessReview(resourceAttributes: AccessAttributes): PlainCall {
  const apiVersion = 'authorization.k8s.io/v1';
  const body = { apiVersion, kind: 'SelfSubjectAccessReview', spec: { resourceAttributes } };
  return { method: 'POST', path: `/apis/${apiVersion}/selfsubjectaccessreviews`, body };
}
