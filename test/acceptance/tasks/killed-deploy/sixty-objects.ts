import type { JsonObject } from '#core/json.ts';
import { createManifest, createWorkload } from '#test/shared/providers/kubernetes/manifests.ts';

export interface SampleObject {
  readonly manifest: JsonObject;
  /** What is there before under its name, and where it is made. */
  readonly present?: { readonly collection: string; readonly object: JsonObject };
}

interface SampleKind {
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly content: (name: string) => JsonObject;
  /** How each of its three objects comes about; default applied, new. */
  readonly methods?: readonly Method[];
  readonly isGlobal?: boolean;
}

type Method = 'new' | 'changed' | 'replace' | 'replace-new' | 'recreate' | 'server-side' | 'generate';

const strategies: { readonly [M in Method]?: string } = {
  replace: 'replace',
  'replace-new': 'replace',
  recreate: 'recreate',
  'server-side': 'server-side-apply',
};
const podSpec = { restartPolicy: 'Never', containers: [{ name: 'main', image: 'registry.test/main:1' }] };
const jobSpec = { template: { spec: podSpec } };
const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }];
const workload = (kind: 'Deployment' | 'ReplicaSet' | 'StatefulSet' | 'DaemonSet') => (name: string) => {
  const more = kind === 'DaemonSet' ? { nodeSelector: { nowhere: 'to-be-found' } } : {};
  const parts = kind === 'DaemonSet' ? { more } : { replicas: 0 };
  return { spec: createWorkload(kind, name, parts).spec as JsonObject };
};
const selector = (name: string): JsonObject => ({ matchLabels: { app: name } });

const kinds: readonly SampleKind[] = [
  { apiVersion: 'v1', kind: 'ServiceAccount', plural: 'serviceaccounts', content: () => ({}) },
  { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', plural: 'roles', content: () => ({ rules }) },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    plural: 'rolebindings',
    content: (name) => ({ roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name } }),
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    plural: 'clusterroles',
    content: () => ({ rules }),
    isGlobal: true,
  },
  {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    plural: 'configmaps',
    content: (name) => ({ data: { name } }),
    methods: ['new', 'replace', 'server-side'],
  },
  {
    apiVersion: 'v1',
    kind: 'Secret',
    plural: 'secrets',
    content: (name) => ({ data: { name: Buffer.from(name).toString('base64') } }),
    methods: ['new', 'recreate', 'replace-new'],
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    plural: 'services',
    content: (name) => ({ spec: { selector: { app: name }, ports: [{ port: 80 }] } }),
    methods: ['new', 'changed', 'replace'],
  },
  {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    plural: 'persistentvolumeclaims',
    content: () => ({
      spec: {
        storageClassName: '',
        accessModes: ['ReadWriteOnce'],
        resources: { requests: { storage: '1Gi' } },
      },
    }),
  },
  {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    plural: 'ingresses',
    content: (name) => ({ spec: { defaultBackend: { service: { name, port: { number: 80 } } } } }),
    methods: ['new', 'server-side', 'replace'],
  },
  {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    plural: 'networkpolicies',
    content: () => ({ spec: { podSelector: {} } }),
  },
  {
    apiVersion: 'v1',
    kind: 'LimitRange',
    plural: 'limitranges',
    content: () => ({ spec: { limits: [{ type: 'PersistentVolumeClaim', max: { storage: '2Gi' } }] } }),
  },
  {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    plural: 'poddisruptionbudgets',
    content: (name) => ({ spec: { maxUnavailable: 1, selector: selector(name) } }),
    methods: ['new', 'recreate', 'replace'],
  },
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    plural: 'deployments',
    content: workload('Deployment'),
    methods: ['new', 'changed', 'server-side'],
  },
  {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    plural: 'statefulsets',
    content: workload('StatefulSet'),
    methods: ['new', 'changed', 'replace'],
  },
  { apiVersion: 'apps/v1', kind: 'DaemonSet', plural: 'daemonsets', content: workload('DaemonSet') },
  { apiVersion: 'apps/v1', kind: 'ReplicaSet', plural: 'replicasets', content: workload('ReplicaSet') },
  {
    apiVersion: 'batch/v1',
    kind: 'Job',
    plural: 'jobs',
    content: () => ({ spec: jobSpec }),
    methods: ['generate', 'generate', 'recreate'],
  },
  {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    plural: 'cronjobs',
    content: () => ({ spec: { schedule: '0 0 1 1 *', jobTemplate: { spec: jobSpec } } }),
  },
  { apiVersion: 'v1', kind: 'Pod', plural: 'pods', content: () => ({ spec: podSpec }) },
  {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    plural: 'horizontalpodautoscalers',
    content: (name) => ({
      spec: { maxReplicas: 2, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name } },
    }),
    methods: ['new', 'changed', 'replace-new'],
  },
];

/** 60 objects of 20 kinds, submitted in every way; the names of cluster-scoped ones begin with the namespace. */
export function createSixtyObjects(namespace: string): SampleObject[] {
  return kinds.flatMap((kind) =>
    (kind.methods ?? ['new', 'new', 'new']).map((method, index) =>
      createSample(kind, { method, namespace, index }),
    ),
  );
}

export function listGlobalPaths(namespace: string): string[] {
  return kinds
    .filter(({ isGlobal }) => isGlobal)
    .flatMap((kind) =>
      [0, 1, 2].map((index) => `${getCollection(kind, '')}/${getName(kind, namespace, index)}`),
    );
}

function createSample(
  kind: SampleKind,
  { method, namespace, index }: { method: Method; namespace: string; index: number },
): SampleObject {
  const strategy = strategies[method];
  const name = getName(kind, namespace, index);
  const annotations = {
    ...(strategy && { [`strategy.spinnaker.io/${strategy}`]: 'true' }),
    ...(method !== 'new' && { 'strategy.spinnaker.io/versioned': 'false' }),
  };
  const place = { name, ...(!kind.isGlobal && { namespace }) };
  const plain = createManifest(kind.apiVersion, kind.kind, { ...place, more: kind.content(name) });
  const metadata =
    method === 'generate'
      ? { namespace, generateName: `${name}-`, annotations }
      : { ...(plain.metadata as JsonObject), annotations };
  const isPresent = ['changed', 'replace', 'recreate'].includes(method);
  return {
    manifest: { ...plain, metadata },
    ...(isPresent && { present: { collection: getCollection(kind, namespace), object: plain } }),
  };
}

function getName({ kind, isGlobal }: SampleKind, namespace: string, index: number): string {
  return `${isGlobal ? `${namespace}-` : ''}${kind.toLowerCase()}-${index}`;
}

function getCollection({ apiVersion, plural, isGlobal }: SampleKind, namespace: string): string {
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  return isGlobal ? `${root}/${plural}` : `${root}/namespaces/${namespace}/${plural}`;
}
