import type { PodMetric } from '@kubernetes/client-node';
import type { ContainerMetricsView } from '#contract/answers/manifests.ts';
import { asString } from '#core/json.ts';
import type { KubernetesClient, ObjectRef } from '../api/client.ts';
import { KubernetesApiError } from '../api/errors.ts';
import { getObjectPath } from '../api/resource-path.ts';
import { asUnchecked, readList } from '../api/unchecked.ts';

const suffixes: { readonly [suffix: string]: number } = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/** What the containers of a pod use now, by the metrics API. None if it is not installed or not allowed. */
export async function readPodMetrics(
  client: KubernetesClient,
  ref: ObjectRef,
): Promise<ContainerMetricsView[]> {
  const resource = { ...ref.resource, apiVersion: 'metrics.k8s.io/v1beta1' };
  const namespace = ref.namespace || (await client.getDefaultNamespace());
  try {
    const metrics = await client.getJson(getObjectPath(resource, namespace, ref.name));
    return readList(asUnchecked<PodMetric>(metrics).containers).map((container) => ({
      containerName: asString(container?.name) ?? '',
      metrics: {
        'CPU(cores)': `${toMillis(parseQuantity(container?.usage?.cpu))}m`,
        'MEMORY(bytes)': `${Math.floor(parseQuantity(container?.usage?.memory) / 2 ** 20)}Mi`,
      },
    }));
  } catch (error) {
    if (error instanceof KubernetesApiError) return [];
    throw error;
  }
}

/** The number of a Kubernetes quantity (`250m`, `24576Ki`, `1e3`); 0 if it is not a quantity. */
export function parseQuantity(value: unknown): number {
  const [, digits, suffix = ''] =
    /^([+-]?[\d.]+(?:[eE][+-]?\d+)?)([a-zA-Z]*)$/.exec(asString(value) ?? '') ?? [];
  return Number(digits ?? 0) * (suffixes[suffix] ?? 0);
}

/** Thousandths, rounded up as in Kubernetes, except for floating-point errors. */
function toMillis(value: number): number {
  return Math.ceil(Number((value * 1000).toFixed(6)));
}
