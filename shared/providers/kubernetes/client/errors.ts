import { VisibleError } from '../../../core/errors.ts';

/**
 * An answer of the API server that is not a success. The message is the server's own (`Status.message`), with the
 * status in front when it has none.
 */
export class KubernetesApiError extends VisibleError {
  override name = 'KubernetesApiError';
  /** HTTP status: 404, 409, 422 … */
  readonly status: number;
  /** Kubernetes' machine-readable reason: `NotFound`, `Conflict`, `Invalid` …; empty when it gave none. */
  readonly reason: string;

  constructor(status: number, reason: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
    this.reason = reason;
  }
}

/** No answer came from the API server: refused, reset, timed out, TLS. The message names the account and the cause. */
export class KubernetesConnectionError extends VisibleError {
  override name = 'KubernetesConnectionError';
}
