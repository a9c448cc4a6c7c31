import type { RequestContext, ResponseContext } from '@kubernetes/client-node';
import { retry } from '#core/back-off.ts';
import type { Randomness } from '#core/clock.ts';
import { isForCredentials, isUnreachable } from '#providers/kubernetes/api/errors.ts';
import { ClusterApis } from '#providers/kubernetes/calls/cluster-apis.ts';
import type { ConnectionOptions } from '#providers/kubernetes/credentials/connection.ts';

/** How the API server of the cluster that this process runs in is reached. */
export interface PodClusterOptions extends ConnectionOptions {
  readonly randomness: Pick<Randomness, 'fraction'>;
}

const connection = {
  name: 'own cluster',
  serviceAccount: true,
  placement: 'local',
  requestTimeoutSeconds: 10,
} as const;

/** How calls are repeated that failed for the moment, or with a token that may have been replaced. */
const retries = {
  backOff: { firstMs: 250, fixedShare: 0.5 },
  triesMax: 4,
  isRetryable: (error: unknown) => isUnreachable(error) || isForCredentials(error),
};

/**
 * The cluster that this process runs in, by the credentials of its pod, which are read again when they change. It is called with the first
 * request: outside of a pod that fails. Disposing cuts the connections.
 */
export class PodCluster extends ClusterApis {
  readonly #options: PodClusterOptions;

  constructor(options: PodClusterOptions) {
    super({ ...options, connection });
    this.#options = options;
  }

  protected override send(request: RequestContext, signal?: AbortSignal): Promise<ResponseContext> {
    return retry({ ...retries, ...this.#options, signal }, () => super.send(request, signal));
  }
}
