import type { V2HorizontalPodAutoscaler, V2MetricSpec } from '@kubernetes/client-node';
import { asJsonArray, asJsonObject, getPath } from '#core/json.ts';
import type { Manifest } from '../../api/manifest.ts';
import { type Draft, findMembers, finishDraft } from './draft.ts';

/** The object that an autoscaler scales. */
export interface AutoscaledTarget {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
}

/** An autoscaler to be created. */
interface AutoscalerPlan {
  readonly namespace: string;
  readonly target: AutoscaledTarget;
  readonly min: number | undefined;
  readonly max: number | undefined;
  /** Percent of the cpu that pods request, on average. */
  readonly cpuTarget: number | undefined;
  readonly annotations: Readonly<Record<string, string>>;
}

/** The autoscaler of a server group: named after what it scales, and based on cpu alone. */
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

/** The members of an autoscaler to change; undefined for unchanged ones. */
type AutoscalerChange = Pick<AutoscalerPlan, 'min' | 'max' | 'cpuTarget'>;

/** The existing autoscaler, with other bounds or another target. Its other metrics stay. */
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
