import type { JsonObject } from '#core/json.ts';
import {
  application,
  createScratchManifests,
  type Hit,
  type Hits,
  type Playground,
  plantedSecret,
  retryableMark,
  toManifest,
} from './playground.ts';

interface Described {
  readonly name: string;
  readonly description: JsonObject;
  readonly fixed?: boolean;
}

export function createOperationHits(playground: Playground): Hits {
  const header = {
    'X-SPINNAKER-USER': 'ada@example.com',
    'X-SPINNAKER-ACCOUNTS': [playground.account, ...playground.otherAccounts].join(','),
  };
  const operations = createDescriptions(playground);
  const lists: Hit[] = operations.map(({ name, description, fixed = false }) => ({
    header,
    fixed,
    body: [{ [name]: description }],
  }));
  const several = {
    header,
    body: operations.slice(-4).map(({ name, description }) => ({ [name]: description })),
  };
  const single: Hit[] = operations.map(({ name, description, fixed = false }) => ({
    header,
    fixed,
    path: { operation: name },
    body: description,
  }));
  const path = { cloudProvider: 'kubernetes' };
  const inProvider = (hit: Hit): Hit => ({ ...hit, path: { ...hit.path, ...path } });
  return {
    'POST /ops': [several, ...lists],
    'POST /ops/{operation}': single,
    'POST /{cloudProvider}/ops': [several, ...lists].map(inProvider),
    'POST /{cloudProvider}/ops/{operation}': single.map(inProvider),
    'POST /{cloudProvider}/task/{id}/restart': lists.map(({ body = null }) => ({
      path: { ...path, id: retryableMark },
      body,
    })),
  };
}

/** Operations that take a while: there is time to end their task from outside. */
export function createSlowOperations({ account, namespace }: Playground): readonly JsonObject[] {
  const manifests = Array.from({ length: 25 }, (_, index) =>
    toManifest(`v1 ConfigMap slow-${index}`, namespace, { data: {} }),
  );
  return [{ deployManifest: { account, moniker: { app: application }, manifests, versioned: false } }];
}

function createDescriptions(playground: Playground): readonly Described[] {
  const { account, namespace } = playground;
  const base = { account, cloudProvider: 'kubernetes' };
  const replicaSet = { ...base, location: namespace, manifestName: 'replicaSet backend-v000' };
  const deployment = { ...replicaSet, manifestName: 'deployment frontend' };
  const traffic = { ...replicaSet, loadBalancers: ['service frontend'] };
  const selectors = [{ kind: 'EQUALS', key: 'role', values: ['scratch'] }];
  const manifests = [...createScratchManifests(namespace)];
  return [
    ...createDeploys(playground),
    ...createPatches(playground),
    { name: 'scaleManifest', description: { ...replicaSet, replicas: '2' } },
    { name: 'scaleManifest', description: { ...deployment, replicas: 1 } },
    {
      name: 'resizeServerGroup',
      description: {
        ...base,
        serverGroupName: 'deployment frontend',
        region: namespace,
        capacity: { desired: 2 },
      },
    },
    { name: 'pauseRolloutManifest', description: deployment },
    { name: 'resumeRolloutManifest', description: deployment },
    { name: 'rollingRestartManifest', description: deployment },
    { name: 'undoRolloutManifest', description: { ...deployment, numRevisionsBack: 1 } },
    { name: 'enableManifest', description: traffic },
    { name: 'disableManifest', description: traffic },
    { name: 'runJob', description: { ...base, application, namespace, manifest: createJob(namespace) } },
    { name: 'cleanupArtifacts', description: { ...base, manifests } },
    {
      name: 'deleteManifest',
      description: { ...base, location: namespace, kinds: ['configMap'], labelSelectors: { selectors } },
    },
    {
      name: 'deleteManifest',
      description: { ...replicaSet, options: { gracePeriodSeconds: 0, cascading: true } },
    },
  ];
}

function createDeploys(playground: Playground): readonly Described[] {
  const { account, otherAccounts, namespace } = playground;
  const base = { account, cloudProvider: 'kubernetes' };
  const moniker = { app: application, cluster: 'backend', stack: 'test', sequence: '1' };
  const manifests = [...createScratchManifests(namespace)];
  const list = { apiVersion: 'v1', kind: 'List', items: manifests };
  const descriptions: JsonObject[] = [
    { ...base, moniker, manifests },
    ...manifests.map((manifest) => ({ ...base, moniker, manifests: [manifest] })),
    { ...base, moniker, manifest: list, versioned: 'false' },
    createBindingDeploy(playground),
    ...otherAccounts.map((other) => ({ ...base, account: other, moniker, manifests })),
  ];
  const secrets = { ...base, moniker, manifests: createSecrets(namespace) };
  return [
    ...descriptions.map((description) => ({ name: 'deployManifest', description })),
    { name: 'deployManifest', description: secrets, fixed: true },
  ];
}

function createPatches({ account, namespace }: Playground): readonly Described[] {
  const target = {
    account,
    cloudProvider: 'kubernetes',
    location: namespace,
    manifestName: 'deployment frontend',
  };
  const patchBody = { metadata: { annotations: { patched: 'true', gone: null } } };
  const list = [{ op: 'add', path: '/metadata/labels/patched', value: 'yes' }];
  return [
    { mergeStrategy: 'strategic', record: true, patchBody },
    { mergeStrategy: 'merge', record: 'false', patchBody },
    { mergeStrategy: 'json', record: false, patchBody: list },
  ].map(({ patchBody: body, ...options }) => ({
    name: 'patchManifest',
    description: { ...target, options, patchBody: body },
  }));
}

/** A deploy with artifacts, traffic and a strategy. */
function createBindingDeploy({ account, namespace }: Playground): JsonObject {
  const artifact = { type: 'docker/image', name: 'example.invalid/app', reference: 'example.invalid/app:2' };
  return {
    account,
    cloudProvider: 'kubernetes',
    moniker: { app: application },
    manifests: createScratchManifests(namespace).filter(({ kind }) => kind === 'ReplicaSet'),
    requiredArtifacts: [artifact],
    optionalArtifacts: [{ ...artifact, version: '2', metadata: {} }],
    services: ['service frontend'],
    strategy: 'RED_BLACK',
    enableTraffic: 'true',
  };
}

function createJob(namespace: string): JsonObject {
  const containers = [{ name: 'main', image: 'example.invalid/job:1' }];
  const template = { spec: { restartPolicy: 'Never', containers } };
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { generateName: 'job-', namespace },
    spec: { template },
  };
}

function createSecrets(namespace: string): JsonObject[] {
  const { text, encoded } = plantedSecret;
  return [
    toManifest('v1 Secret good', namespace, { data: { key: encoded } }),
    toManifest('v1 Secret text', namespace, { stringData: { key: text } }),
    toManifest('v1 Secret wrong', namespace, { data: { key: `${text}!` } }),
  ];
}
