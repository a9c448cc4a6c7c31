import { getPath, type JsonObject, type JsonValue } from '#core/json.ts';
import type { Manifest } from '#providers/kubernetes/api/manifest.ts';
import { refuseBy } from '#test/support/conformance/operation-spec.ts';
import { createManifest } from '../../../manifests.ts';
import type { KubernetesOperationSpec, KubernetesPlace } from '../../../operations/specs/spec.ts';
import { formatOutside, listBadAccounts, listBadNamespaces, readContainers } from './worlds.ts';

const prefix = 'cloneKubernetesAtomicOperationDescription';
const byCode = refuseBy(prefix);
const name = 'kub-test-v000';

/** A ReplicationController whose pods say much. */
function createSource(): Manifest {
  const labels = { 'replication-controller': name, 'load-balancer-front': 'false' };
  const template = {
    metadata: { labels, annotations: { told: 'yes' } },
    spec: {
      containers: [
        { name: 'web', image: 'registry.test/web:1', env: [{ name: 'TOKEN', value: 'kept' }] },
        { name: 'side', image: 'registry.test/side:1' },
      ],
      initContainers: [{ name: 'init', image: 'registry.test/init:1' }],
      volumes: [{ name: 'data', emptyDir: {} }],
      nodeSelector: { disk: 'fast' },
      serviceAccountName: 'web',
      terminationGracePeriodSeconds: 7,
    },
  };
  const selector = { 'replication-controller': name };
  return createManifest('v1', 'ReplicationController', {
    name,
    more: { spec: { replicas: 0, selector, template } },
  });
}

const result = {
  serverGroupNames: ['PLACE:kub-test-v001'],
  serverGroupNameByRegion: { PLACE: 'kub-test-v001' },
  ancestorServerGroupNameByRegion: { PLACE: name },
};

const history = (middle: readonly string[]) => [
  `Initializing copy of server group for ${name}...`,
  `Reading ancestor server group ${name}...`,
  ...middle,
  `Finished copying server group for ${name}.`,
  `Finished copying server group for ${name}. New server group = PLACE:kub-test-v001.`,
];
const lookUp = [
  'Looking up provided namespace...',
  'Looking up next sequence index for cluster kub-test...',
  `Found ancestor server group, parsing details (name: ${name})`,
];

/** Of a copy without a word of its own everything is the source's. */
export const cloneServerGroup: KubernetesOperationSpec = {
  world: () => [createSource()],
  context: ({ place }) => ({
    source: { serverGroupName: name, region: place },
    kind: 'ReplicationController',
  }),
  invalid: [
    ...listBadAccounts('cloneServerGroup'),
    ...listBadNamespaces('cloneServerGroup', prefix),
    byCode({ source: null }, 'source'),
    byCode({ source: { serverGroupName: '' } }, 'source'),
    byCode({ targetSize: -1 }, 'targetSize', 'negative'),
    byCode({ stack: 'A' }, 'stack', 'invalid (Must match ^[a-z0-9]+$)'),
    byCode({ containers: [{ name: 'web' }] }, 'container[0]', 'imageDescription.empty'),
  ],
  outside: `${prefix}.source.namespace.notRegistered`,
  outsideNames: 'namespace',
  calls: { GET: 6, POST: 1 },
  history: history([
    'Initializing creation of replication controller.',
    ...lookUp,
    'Replication controller name chosen to be kub-test-v001.',
    'Setting target size to 0...',
    'Setting replication controller spec labels...',
    'Adding image pull secrets... ',
    'Sending replication controller spec to the Kubernetes master.',
    'Finished creating replication controller kub-test-v001.',
  ]),
  result,
  secrets: [],
  look: lookAt('replicationcontrollers'),
  effect: () => ({
    replicas: 0,
    labels: { 'replication-controller': 'kub-test-v001', 'load-balancer-front': 'true' },
    annotations: { told: 'yes' },
    containers: [
      { name: 'web', image: 'registry.test/web:1' },
      { name: 'side', image: 'registry.test/side:1' },
    ],
    token: 'kept',
    initContainer: 'registry.test/init:1',
    volume: 'data',
    nodeSelector: { disk: 'fast' },
    serviceAccountName: 'web',
    grace: 7,
  }),
};

/** What a copy says of itself counts. */
export const cloneWithOverrides: KubernetesOperationSpec = {
  ...cloneServerGroup,
  context: ({ place }) => ({
    ...{ source: { serverGroupName: name, namespace: place }, kind: 'ReplicaSet', targetSize: '0' },
    ...{
      namespace: place,
      loadBalancers: [],
      nodeSelector: { disk: 'slow' },
      podAnnotations: { told: 'no' },
    },
    containers: [{ name: 'web', imageDescription: { uri: 'registry.test/web:2' } }],
    serviceAccountName: 'other',
  }),
  invalid: [],
  outside: formatOutside(prefix),
  history: history([
    'Initializing creation of replica set.',
    ...lookUp,
    'Replica set name chosen to be kub-test-v001.',
    'Setting target size to 0...',
    'Building replica set...',
    'Deployed replica set kub-test-v001',
  ]),
  look: lookAt('replicasets'),
  effect: () => ({
    replicas: 0,
    labels: {
      'kub-test-v001': 'true',
      version: '1',
      app: 'kub',
      cluster: 'kub-test',
      stack: 'test',
      'replication-controller': 'kub-test-v001',
    },
    annotations: { told: 'no' },
    containers: [{ name: 'web', image: 'registry.test/web:2' }],
    token: null,
    initContainer: 'registry.test/init:1',
    volume: 'data',
    nodeSelector: { disk: 'slow' },
    serviceAccountName: 'other',
    grace: 7,
  }),
};

function lookAt(resource: string) {
  return async ({ findLive }: KubernetesPlace): Promise<JsonValue> => {
    const live = await findLive(`${resource}/kub-test-v001`);
    const template = (...path: string[]) => getPath(live, 'spec', 'template', ...path) ?? null;
    const [container] = (template('spec', 'containers') ?? []) as JsonObject[];
    const [init] = (template('spec', 'initContainers') ?? []) as JsonObject[];
    const [volume] = (template('spec', 'volumes') ?? []) as JsonObject[];
    const [variable] = (container?.['env'] ?? []) as JsonObject[];
    return {
      replicas: getPath(live, 'spec', 'replicas') ?? null,
      labels: template('metadata', 'labels'),
      annotations: template('metadata', 'annotations'),
      containers: readContainers(live),
      token: variable?.['value'] ?? null,
      initContainer: init?.['image'] ?? null,
      volume: volume?.['name'] ?? null,
      nodeSelector: template('spec', 'nodeSelector'),
      serviceAccountName: template('spec', 'serviceAccountName'),
      grace: template('spec', 'terminationGracePeriodSeconds'),
    };
  };
}
