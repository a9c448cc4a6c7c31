import { type ApiConstructor, type ApiType, KubeConfig } from '@kubernetes/client-node';
import { getCluster } from './cluster.ts';

/** An API of the shared cluster, such as `CoreV1Api`, as an administrator: to arrange or observe without the code under test. */
export function openApi<T extends ApiType>(Api: ApiConstructor<T>): T {
  const config = new KubeConfig();
  config.loadFromFile(getCluster().kubeconfig);
  return config.makeApiClient(Api);
}
