import { getPath, type JsonValue } from '#core/json.ts';
import { refuseBy } from '#test/support/conformance/operation-spec.ts';
import type { KubernetesOperationSpec, KubernetesPlace } from '../../../operations/specs/spec.ts';
import { createAutoscaler, createController, formatOutside, listBadServerGroups } from './worlds.ts';

const prefix = 'KubernetesAutoscalerDescription';
const byCode = refuseBy(prefix);
const metric = {
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 60 } },
};

/** A ReplicationController gets an autoscaler. */
export const createScalingPolicy: KubernetesOperationSpec = {
  world: () => [createController('kub-test-v000', { replicas: 0 })],
  context: ({ place }) => ({
    ...{ serverGroupName: 'kub-test-v000', namespace: place, capacity: { min: '1', max: 4, desired: 2 } },
    scalingPolicy: { cpuUtilization: { target: 60 } },
  }),
  invalid: [
    ...listBadServerGroups('upsertScalingPolicy', prefix),
    {
      change: { capacity: { min: 3, max: 2 } },
      error: `${prefix}.description.capacity.max.lessThan ${prefix}.description.capacity.min`,
      names: 'capacity.max',
    },
    {
      change: { scalingPolicy: { cpuUtilization: { target: 0 } } },
      error: `${prefix}.scalingPolicy.cpuUtilization.target.notPositive`,
      names: 'target',
    },
    byCode({ capacity: { min: -1 } }, 'capacity.min', 'negative'),
  ],
  outside: formatOutside(prefix),
  outsideNames: 'namespace',
  calls: { GET: 4, POST: 1 },
  history: [
    'Initializing upsert of autoscaler for server group kub-test-v000...',
    'Looking up provided namespace...',
    'Looking up existing autoscaler...',
    'Creating autoscaler...',
  ],
  secrets: [],
  look: lookAtAutoscaler,
  effect: () => ({
    minReplicas: 1,
    maxReplicas: 4,
    metrics: [metric],
    scaled: { apiVersion: 'v1', kind: 'ReplicationController', name: 'kub-test-v000' },
  }),
};

/** An autoscaler that is there keeps what is left out. */
export const changeScalingPolicy: KubernetesOperationSpec = {
  ...createScalingPolicy,
  world: () => [createController('kub-test-v000', { replicas: 0 }), createAutoscaler('kub-test-v000')],
  context: ({ place }) => ({
    ...{ serverGroupName: 'kub-test-v000', region: place, capacity: { max: 9 } },
    scalingPolicy: { cpuUtilization: { target: 60 } },
  }),
  invalid: [],
  calls: { GET: 4, PUT: 1 },
  history: [
    'Initializing upsert of autoscaler for server group kub-test-v000...',
    'Looking up provided namespace...',
    'Looking up existing autoscaler...',
    'Updating autoscaler settings...',
  ],
  effect: () => ({
    minReplicas: 1,
    maxReplicas: 9,
    metrics: [metric],
    scaled: { apiVersion: 'v1', kind: 'ReplicationController', name: 'kub-test-v000' },
  }),
};

async function lookAtAutoscaler({ findLive }: KubernetesPlace): Promise<JsonValue> {
  const live = await findLive('horizontalpodautoscalers/kub-test-v000');
  const spec = (member: string) => getPath(live, 'spec', member) ?? null;
  return {
    minReplicas: spec('minReplicas'),
    maxReplicas: spec('maxReplicas'),
    metrics: spec('metrics'),
    scaled: spec('scaleTargetRef'),
  };
}
