import { asJsonArray, getPath, type JsonObject, type JsonValue } from '#core/json.ts';
import type { Manifest } from '#providers/kubernetes/api/manifest.ts';
import { refuseBy } from '#test/support/conformance/operation-spec.ts';
import { createManifest } from '../../../manifests.ts';
import { lookAtSpec } from '../../../operations/specs/look.ts';
import type { KubernetesOperationSpec, KubernetesPlace } from '../../../operations/specs/spec.ts';
import { formatOutside, listBadAccounts, listBadServerGroups, readContainers } from './worlds.ts';

const operation = 'createServerGroup';
const prefix = 'deployKubernetesAtomicOperationDescription';
const byCode = refuseBy(prefix);
const name = 'kub-test';

/** A set of version 1 without pods: no node has the label that they ask for. */
function createSet(kind: 'StatefulSet' | 'DaemonSet'): Manifest {
  const labels = { app: 'kub', cluster: name };
  const template = {
    metadata: { labels },
    spec: { nodeSelector: { disk: 'none' }, containers: [{ name: 'web', image: 'registry.test/web:1' }] },
  };
  const own = kind === 'StatefulSet' ? { replicas: 0, serviceName: name } : {};
  const spec = { ...own, selector: { matchLabels: labels }, template };
  return createManifest('apps/v1', kind, { name, more: { spec } });
}

/** An autoscaler of the StatefulSet. */
function createSetScaler(): Manifest {
  const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'StatefulSet', name };
  const spec = { minReplicas: 1, maxReplicas: 2, scaleTargetRef };
  return createManifest('autoscaling/v2', 'HorizontalPodAutoscaler', { name, more: { spec } });
}

const containers = [{ name: 'web', imageDescription: { uri: 'registry.test/web:2' } }];

function createContext(fields: JsonObject) {
  return ({ place }: { readonly place: string }): JsonObject => ({
    ...{ application: 'kub', stack: 'test', namespace: place, loadBalancers: ['front'] },
    ...{ containers, apiVersion: 'apps/v1beta1', nodeSelector: { disk: 'none' }, ...fields },
  });
}

/** Reads what a set was made of: members of its spec, and of what its pods are. */
function lookAtSet(plural: string, members: readonly string[]) {
  return async ({ findLive, listNames }: KubernetesPlace): Promise<JsonValue> => {
    const live = await findLive(`${plural}/${name}`);
    const spec = members.map((member) => [member, getPath(live, 'spec', member) ?? null]);
    return {
      names: await listNames(plural),
      labels: getPath(live, 'spec', 'template', 'metadata', 'labels') ?? null,
      containers: readContainers(live),
      pullSecrets: getPath(live, 'spec', 'template', 'spec', 'imagePullSecrets') ?? null,
      ...Object.fromEntries(spec),
    };
  };
}

const result = { serverGroupNames: [`PLACE:${name}`], serverGroupNameByRegion: { PLACE: name } };
const common = { outside: formatOutside(prefix), outsideNames: 'namespace', secrets: [], result };
const made = (place: string) => ({
  names: [name],
  labels: { app: 'kub', cluster: name, namespace: place, 'load-balancer-front': 'true' },
  containers: [{ name: 'web', image: 'registry.test/web:2' }],
  pullSecrets: [{ name: 'hub' }],
});
/** Nobody asks for load balancers then. */
const changed = (place: string) => ({
  ...made(place),
  labels: { app: 'kub', cluster: name, namespace: place },
});

/** A StatefulSet that is not there, with an autoscaler. Of its pods `podSpec` says what nothing else does. */
export const createStatefulSet: KubernetesOperationSpec = {
  ...common,
  world: () => [],
  context: createContext({
    ...{ kind: 'StatefulSet', targetSize: '0', podManagementPolicy: 'Parallel' },
    volumeClaims: [
      { claimName: 'data', accessModes: ['ReadWriteOnce'], requirements: { requests: { storage: '1Gi' } } },
    ],
    ...{ volumeAnnotations: { told: 'yes' }, podSpec: { terminationGracePeriodSeconds: 3, hostIPC: true } },
    updateController: {
      enabled: false,
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: '2' } },
    },
    ...{ scalingPolicy: { cpuUtilization: { target: 50 } }, capacity: { min: 1, max: 3, desired: 1 } },
  }),
  invalid: [
    ...listBadAccounts(operation),
    byCode({ targetSize: null, capacity: null, scalingPolicy: null }, 'targetSize'),
    byCode({ containers: [] }, 'containers'),
    byCode(
      { podManagementPolicy: 'Ordered' },
      'podManagementPolicy',
      'invalid (Must be one of [OrderedReady, Parallel])',
    ),
    byCode({ volumeClaims: [{ accessModes: [] }] }, 'volumeClaims[0].claimName'),
    byCode({ podSpec: { containers: [{ name: 'web' }] } }, 'podSpec.container[0]', 'imageDescription.empty'),
    byCode({ podSpec: { volumeSources: [{ name: 'v' }] } }, 'podSpec.volumeSources[0]', 'type.empty'),
  ],
  calls: { GET: 1, POST: 2 },
  history: [
    'Initializing creation of stateful set.',
    'Looking up provided namespace...',
    'Building stateful set...',
    `Deployed stateful set ${name}`,
    'Attaching a horizontal pod autoscaler...',
  ],
  async look(place) {
    const members = ['replicas', 'serviceName', 'podManagementPolicy', 'updateStrategy'];
    const live = await place.findLive(`statefulsets/${name}`);
    const claim = asJsonArray(getPath(live, 'spec', 'volumeClaimTemplates'))[0];
    const pods = getPath(live, 'spec', 'template', 'spec');
    const autoscaler = await place.findLive(`horizontalpodautoscalers/${name}`);
    return {
      ...((await lookAtSet('statefulsets', members)(place)) as JsonObject),
      claim: {
        name: getPath(claim, 'metadata', 'name') ?? null,
        annotations: getPath(claim, 'metadata', 'annotations') ?? null,
        accessModes: getPath(claim, 'spec', 'accessModes') ?? null,
        resources: getPath(claim, 'spec', 'resources') ?? null,
      },
      hostIPC: getPath(pods, 'hostIPC') ?? null,
      grace: getPath(pods, 'terminationGracePeriodSeconds') ?? null,
      scaled: getPath(autoscaler, 'spec', 'scaleTargetRef') ?? null,
    };
  },
  effect: ({ place }) => ({
    ...made(place),
    ...{ replicas: 0, serviceName: name, podManagementPolicy: 'Parallel' },
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 2 } },
    claim: {
      ...{ name: 'data', annotations: { told: 'yes' }, accessModes: ['ReadWriteOnce'] },
      resources: { requests: { storage: '1Gi' } },
    },
    ...{ hostIPC: true, grace: 3 },
    scaled: { apiVersion: 'apps/v1', kind: 'StatefulSet', name },
  }),
};

/** A StatefulSet that is there is changed: what it selects by stays. */
export const updateStatefulSet: KubernetesOperationSpec = {
  ...common,
  world: () => [createSet('StatefulSet')],
  context: ({ place }) => ({
    ...createContext({ kind: 'StatefulSet', targetSize: 0, loadBalancers: [] })({ place }),
    updateController: { enabled: 'true', updateStrategy: { type: 'Recreate' }, minReadySeconds: 4 },
  }),
  invalid: [],
  calls: { GET: 4, PUT: 1 },
  history: [
    'Initializing creation of stateful set.',
    'Looking up provided namespace...',
    'Building stateful set...',
    `Update stateful set ${name}`,
  ],
  look: lookAtSet('statefulsets', ['replicas', 'updateStrategy', 'minReadySeconds']),
  effect: ({ place }) => ({
    ...changed(place),
    ...{ replicas: 0, updateStrategy: { type: 'OnDelete' }, minReadySeconds: 4 },
  }),
};

/** A DaemonSet of that very number. */
export const createDaemonSet: KubernetesOperationSpec = {
  ...common,
  world: () => [],
  context: createContext({
    ...{ kind: 'DaemonSet', containers: [], podSpec: { containers } },
    updateController: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '2' } } },
  }),
  invalid: [],
  calls: { POST: 1 },
  history: [
    'Initializing creation of daemon set.',
    'Looking up provided namespace...',
    'Building daemon set...',
    `Deployed daemon set ${name}`,
  ],
  look: lookAtSet('daemonsets', ['updateStrategy']),
  effect: ({ place }) => ({
    ...made(place),
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 2, maxSurge: 0 } },
  }),
};

/** A DaemonSet that is there is changed. */
export const updateDaemonSet: KubernetesOperationSpec = {
  ...common,
  world: () => [createSet('DaemonSet')],
  context: createContext({ kind: 'DaemonSet', loadBalancers: [], updateController: { enabled: true } }),
  invalid: [],
  calls: { GET: 2, PUT: 1 },
  history: [
    'Initializing creation of daemon set.',
    'Looking up provided namespace...',
    'Building daemon set...',
    `Update daemon set ${name}`,
  ],
  look: lookAtSet('daemonsets', []),
  effect: ({ place }) => changed(place),
};

const target = ({ place }: { readonly place: string }) => ({ serverGroupName: name, namespace: place });

/** A StatefulSet without pods is to have one; nobody says that it is one. */
export const resizeStatefulSet: KubernetesOperationSpec = {
  world: () => [createSet('StatefulSet')],
  context: (inputs) => ({ ...target(inputs), capacity: { desired: 1 } }),
  invalid: listBadServerGroups('resizeServerGroup', 'resizeKubernetesAtomicOperationDescription'),
  outside: formatOutside('resizeKubernetesAtomicOperationDescription'),
  outsideNames: 'namespace',
  calls: { GET: 4, PATCH: 1 },
  history: [
    `Initializing resize of server group ${name}...`,
    'Looking up provided namespace...',
    'Setting size to 1...',
    'Resizing stateful set...',
    'Completed resize operation.',
  ],
  secrets: [],
  look: lookAtSpec(`statefulsets/${name}`, 'replicas'),
  effect: () => ({ replicas: 1, generation: 2 }),
};

/** A StatefulSet goes, with its autoscaler. */
export const destroyStatefulSet: KubernetesOperationSpec = {
  world: () => [createSet('StatefulSet'), createSetScaler()],
  context: (inputs) => ({ ...target(inputs), kind: 'StatefulSet' }),
  invalid: [],
  outside: formatOutside('destroyKubernetesAtomicOperationDescription'),
  outsideNames: 'namespace',
  calls: { GET: 2, DELETE: 2 },
  history: [
    'Initializing destroy of server group.',
    'Looking up provided namespace...',
    'Destroying autoscaler...',
    'Destroying server group...',
    "Underlying kind is 'StatefulSet'...",
    `Successfully destroyed server group ${name}.`,
  ],
  secrets: [],
  look: async ({ listNames }) => [
    ...(await listNames('statefulsets')),
    ...(await listNames('horizontalpodautoscalers')),
  ],
  effect: () => [],
};
