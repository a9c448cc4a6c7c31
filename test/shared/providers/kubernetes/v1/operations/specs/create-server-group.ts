import { getPath, type JsonObject, type JsonValue } from '#core/json.ts';
import { type InvalidContext, refuseBy } from '#test/support/conformance/operation-spec.ts';
import type { KubernetesOperationSpec, KubernetesPlace } from '../../../operations/specs/spec.ts';
import { createController, formatOutside, listBadAccounts, readContainers } from './worlds.ts';

const operation = 'createServerGroup';
const prefix = 'deployKubernetesAtomicOperationDescription';
const byCode = refuseBy(prefix);
const byField = refuseBy(operation, ': ');

const containers = [
  { name: 'web', imageDescription: { registry: 'registry.test', repository: 'web', tag: '2' } },
];
const invalid: readonly InvalidContext[] = [
  ...listBadAccounts(operation),
  byCode({ application: null }, 'application'),
  byCode({ containers: [] }, 'containers'),
  byCode({ targetSize: -1 }, 'targetSize', 'negative'),
  byField({ targetSize: 'many' }, 'targetSize', 'expected a whole number, got a string (not shown)'),
  byCode(
    { kind: 'Deployment' },
    'kind',
    'invalid (Must be one of [ReplicaSet, ReplicationController, StatefulSet, DaemonSet])',
  ),
  byCode({ containers: [{ name: 'web' }] }, 'container[0]', 'imageDescription.empty'),
];

function createContext(fields: JsonObject) {
  return ({ place }: { readonly place: string }): JsonObject => ({
    ...{ application: 'kub', stack: 'test', namespace: place, targetSize: '0', loadBalancers: ['front'] },
    ...{ containers, ...fields },
  });
}

function lookAt(resource: string) {
  return async ({ findLive, listNames }: KubernetesPlace): Promise<JsonValue> => {
    const live = await findLive(`${resource}/kub-test-v001`);
    const names = await listNames(resource);
    return {
      names,
      replicas: getPath(live, 'spec', 'replicas') ?? null,
      labels: getPath(live, 'spec', 'template', 'metadata', 'labels') ?? null,
      containers: readContainers(live),
      pullSecrets: getPath(live, 'spec', 'template', 'spec', 'imagePullSecrets') ?? null,
    };
  };
}

const made = { containers: [{ name: 'web', image: 'registry.test/web:2' }], pullSecrets: [{ name: 'hub' }] };
const result = {
  serverGroupNames: ['PLACE:kub-test-v001'],
  serverGroupNameByRegion: { PLACE: 'kub-test-v001' },
  ancestorServerGroupNameByRegion: { PLACE: 'kub-test-v000' },
};
const lookUp = [
  'Looking up provided namespace...',
  'Looking up next sequence index for cluster kub-test...',
  'Found ancestor server group, parsing details (name: kub-test-v000)',
];

/** The second server group of a cluster is a ReplicationController, as the first is. */
export const createReplicationController: KubernetesOperationSpec = {
  world: () => [createController('kub-test-v000', { replicas: 0 })],
  context: createContext({ kind: 'ReplicationController' }),
  invalid,
  outside: formatOutside(prefix),
  outsideNames: 'namespace',
  calls: { GET: 2, POST: 1 },
  history: [
    'Initializing creation of replication controller.',
    ...lookUp,
    'Replication controller name chosen to be kub-test-v001.',
    'Setting target size to 0...',
    'Setting replication controller spec labels...',
    'Adding image pull secrets... ',
    'Sending replication controller spec to the Kubernetes master.',
    'Finished creating replication controller kub-test-v001.',
  ],
  result,
  secrets: [],
  look: lookAt('replicationcontrollers'),
  effect: () => ({
    names: ['kub-test-v000', 'kub-test-v001'],
    replicas: 0,
    labels: { 'replication-controller': 'kub-test-v001', 'load-balancer-front': 'true' },
    ...made,
  }),
};

/** A ReplicaSet with the size of its source, and an autoscaler. */
export const createReplicaSet: KubernetesOperationSpec = {
  ...createReplicationController,
  context: (inputs) => ({
    ...createContext({ targetSize: null, capacity: { min: 1, max: 3, desired: 1 } })(inputs),
    scalingPolicy: { cpuUtilization: { target: 50 } },
    ...{ deployment: { enabled: false, rollbackRevision: 0 }, updateController: { enabled: false } },
    source: { serverGroupName: 'kub-test-v000', namespace: inputs.place, useSourceCapacity: true },
  }),
  calls: { GET: 5, POST: 2 },
  history: [
    'Initializing creation of replica set.',
    'Looking up provided namespace...',
    'Searching for ancestor server group kub-test-v000...',
    ...lookUp.slice(1),
    'Replica set name chosen to be kub-test-v001.',
    'Setting target size to 0...',
    'Building replica set...',
    'Deployed replica set kub-test-v001',
    'Attaching a horizontal pod autoscaler...',
  ],
  invalid: [byCode({ scalingPolicy: {} }, 'scalingPolicy.cpuUtilization')],
  async look(place) {
    const autoscaler = await place.findLive('horizontalpodautoscalers/kub-test-v001');
    const { kind = null, name = null } = (getPath(autoscaler, 'spec', 'scaleTargetRef') ?? {}) as JsonObject;
    return { replicaSet: await lookAt('replicasets')(place), scaled: { kind, name } };
  },
  effect: () => ({
    replicaSet: {
      names: ['kub-test-v001'],
      replicas: 0,
      labels: {
        'kub-test-v001': 'true',
        version: '1',
        app: 'kub',
        cluster: 'kub-test',
        stack: 'test',
        'replication-controller': 'kub-test-v001',
        'load-balancer-front': 'true',
      },
      ...made,
    },
    scaled: { kind: 'ReplicaSet', name: 'kub-test-v001' },
  }),
};
