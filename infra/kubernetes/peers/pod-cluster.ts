import type { Clock, Randomness } from '#core/clock.ts';
import type { Logger } from '#core/logger.ts';
import type { KubernetesClient } from '#providers/kubernetes/api/client.ts';
import { createKubernetesClient } from '#providers/kubernetes/client/kubernetes-client.ts';
import { WatchClient } from '#providers/kubernetes/watch/watch-client.ts';

/** How the API server of the cluster that this process runs in is reached. */
export interface PodClusterOptions {
  /** Where `KUBERNETES_SERVICE_HOST` and `KUBERNETES_SERVICE_PORT` are. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Folder with `token`, `ca.crt` and `namespace` of the pod's service account. Default: where Kubernetes puts them. */
  readonly serviceAccountDirectory?: string | undefined;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly log: Logger;
}

/** The cluster that this process runs in, by the credentials of its pod, which are read again when they change. Disposing ends watches. */
export interface PodCluster extends AsyncDisposable {
  /** For single requests. */
  readonly client: KubernetesClient;
  /** For lists and watches. */
  readonly watchClient: WatchClient;
}

/** Requests a second, and at once: a few reviews and one watch are all that there is. */
const budget = { qps: 20, burst: 50 };

/** Opens the cluster that this process runs in. It is called with the first request: outside of a pod that fails. */
export function openPodCluster(options: PodClusterOptions): PodCluster {
  const connection = {
    name: 'own cluster',
    serviceAccount: true,
    placement: 'local',
    requestTimeoutSeconds: 10,
  } as const;
  const client = createKubernetesClient({ ...options, connection, budget });
  const watchClient = new WatchClient({ ...options, connection, budget, maximumWatches: 2 });
  return {
    client,
    watchClient,
    async [Symbol.asyncDispose]() {
      await watchClient[Symbol.asyncDispose]();
      await client[Symbol.asyncDispose]();
    },
  };
}
