import type { V2HorizontalPodAutoscaler, V2MetricSpec } from '@kubernetes/client-node';
import { asJsonArray, asJsonObject, getPath } from '#core/json.ts';
import type { Manifest } from '../../api/manifest.ts';
import { type Draft, findMembers, finishDraft } from './draft.ts';

/** What an autoscaler changes the size of. */
export interface AutoscaledTarget {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
}

/** An autoscaler that is to be made. */
export interface AutoscalerPlan {
  readonly namespace: string;
  readonly target: AutoscaledTarget;
  readonly min: number | undefined;
  readonly max: number | undefined;
  /** Percent of the cpu that pods request, on average. */
  readonly cpuTarget: number | undefined;
  readonly annotations: Readonly<Record<string, string>>;
}

/** The autoscaler of a server group: named like what it scales, and going by cpu alone. */
export function buildAutoscaler(plan: AutoscalerPlan): Manifest {
  const { namespace, target, min, max, cpuTarget, annotations } = plan;
  return finishDraft<V2HorizontalPodAutoscaler>({
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: target.name, namespace, annotations: findMembers(annotations) },
    spec: {
      minReplicas: min,
      maxReplicas: max,
      metrics: cpuTarget === undefined ? undefined : [buildCpuMetric(cpuTarget)],
      scaleTargetRef: target,
    },
  });
}

/** What of an autoscaler is to be another; undefined for what stays. */
export type AutoscalerChange = Pick<AutoscalerPlan, 'min' | 'max' | 'cpuTarget'>;

/** The autoscaler that is there, with other bounds or another aim. What else it goes by stays. */
export function changeAutoscaler(live: Manifest, { min, max, cpuTarget }: AutoscalerChange): Manifest {
  const spec = asJsonObject(live['spec']) ?? {};
  const others = asJsonArray(spec['metrics']).filter(
    (metric) => getPath(metric, 'resource', 'name') !== 'cpu',
  );
  return {
    ...live,
    spec: {
      ...spec,
      ...(min !== undefined && { minReplicas: min }),
      ...(max !== undefined && { maxReplicas: max }),
      ...(cpuTarget !== undefined && { metrics: [finishDraft(buildCpuMetric(cpuTarget)), ...others] }),
    },
  };
}

function buildCpuMetric(averageUtilization: number): Draft<V2MetricSpec> {
  return { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } } };
}
