import type { JsonObject } from '#core/json.ts';
import {
  createManifest,
  createService,
  createWorkload,
  type ManifestParts,
} from '#test/shared/providers/kubernetes/manifests.ts';

export interface KindSample {
  readonly kind: string;
  /** Other ways in which requests write it. */
  readonly spellings: readonly string[];
  /** Where the API server serves its objects: `apps/v1 deployments`. */
  readonly served: string;
  /** False for cluster-scoped kinds. */
  readonly namespaced: boolean;
  readonly manifest: JsonObject;
  /** Only Kubernetes itself makes its objects: a deploy is refused. */
  readonly undeployable?: true;
}

interface SampleParts {
  readonly spellings?: readonly string[];
  readonly name?: string;
  readonly more?: JsonObject;
  readonly undeployable?: true;
}

/**
 * An object of every kind of the table that API servers serve, and of some that Spinnaker does not know.
 *
 * @param namespace where the namespaced ones go; names of cluster-scoped ones begin with it
 */
export function createKindSamples(namespace: string): KindSample[] {
  const make = (served: string, kind: string, parts: SampleParts & { namespaced: boolean }): KindSample => {
    const [apiVersion = ''] = served.split(' ');
    const { namespaced, spellings = [], more, name = namespaced ? 'web' : namespace, undeployable } = parts;
    const place: ManifestParts = namespaced ? { namespace } : {};
    const manifest = createManifest(apiVersion, kind, { name, ...place, ...(more && { more }) });
    const about = { kind: toSpinnakerKind(kind, apiVersion), spellings, served, namespaced };
    return { ...about, manifest, ...(undeployable && { undeployable }) };
  };
  const sample: Sample = (served, kind, parts) => make(served, kind, { ...parts, namespaced: true });
  const global: Sample = (served, kind, parts) => make(served, kind, { ...parts, namespaced: false });
  return [
    ...listWorkloads(namespace),
    ...listPodMakers(sample),
    ...listNamespaced(sample, namespace),
    ...listGlobal(global, namespace),
    ...listUnknown(sample, global),
  ];
}

type Sample = (served: string, kind: string, parts?: SampleParts) => KindSample;

function listWorkloads(namespace: string): KindSample[] {
  const nowhere = { nodeSelector: { nowhere: 'to-be-found' } };
  const about = (kind: string, spellings: readonly string[], manifest: JsonObject): KindSample => ({
    ...{ kind, spellings, served: `apps/v1 ${kind.toLowerCase()}s`, namespaced: true, manifest },
  });
  const parts = { namespace, replicas: 0 };
  return [
    about('deployment', ['deploy', 'DEPLOYMENT'], createWorkload('Deployment', 'web', parts)),
    about('replicaSet', ['rs', 'replicaset'], createWorkload('ReplicaSet', 'web', parts)),
    about('statefulSet', ['StatefulSet'], createWorkload('StatefulSet', 'web', parts)),
    about('daemonSet', ['ds', 'daemonset'], createWorkload('DaemonSet', 'web', { namespace, more: nowhere })),
  ];
}

const containers = [{ name: 'main', image: 'registry.test/web:1' }];
const jobSpec = { suspend: true, template: { metadata: {}, spec: { restartPolicy: 'Never', containers } } };

function listPodMakers(sample: Sample): KindSample[] {
  return [
    sample('v1 pods', 'Pod', { spellings: ['po', 'POD'], more: { spec: { containers } } }),
    sample('batch/v1 jobs', 'Job', { spellings: ['JOB'], more: { spec: jobSpec } }),
    sample('batch/v1 cronjobs', 'CronJob', {
      spellings: ['cronjob'],
      more: { spec: { schedule: '0 0 1 1 *', suspend: true, jobTemplate: { spec: jobSpec } } },
    }),
    sample('autoscaling/v2 horizontalpodautoscalers', 'HorizontalPodAutoscaler', {
      spellings: ['hpa', 'HorizontalPodAutoscaler'],
      more: {
        spec: {
          scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'other' },
          maxReplicas: 2,
        },
      },
    }),
  ];
}

function listNamespaced(sample: Sample, namespace: string): KindSample[] {
  const service = createService('web', { behind: 'web' }, { namespace });
  const backend = { service: { name: 'web', port: { number: 80 } } };
  const subjects = [{ kind: 'ServiceAccount', name: 'default', namespace }];
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'web' };
  const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Mi' } } };
  return [
    { ...sample('v1 services', 'Service', { spellings: ['svc'] }), manifest: service },
    sample('networking.k8s.io/v1 ingresses', 'Ingress', { more: { spec: { defaultBackend: backend } } }),
    sample('networking.k8s.io/v1 networkpolicies', 'NetworkPolicy', {
      ...{ spellings: ['netpol'], more: { spec: { podSelector: {} } } },
    }),
    sample('v1 configmaps', 'ConfigMap', { spellings: ['cm', 'CONFIGMAP'], more: { data: { a: '1' } } }),
    sample('v1 secrets', 'Secret', { spellings: ['SECRET'], more: { data: { a: 'MQ==' } } }),
    sample('v1 persistentvolumeclaims', 'PersistentVolumeClaim', {
      ...{ spellings: ['pvc'], more: { spec: { ...claim, storageClassName: '' } } },
    }),
    sample('v1 serviceaccounts', 'ServiceAccount', { spellings: ['sa'] }),
    sample('v1 limitranges', 'LimitRange', { spellings: ['limitrange'], more: { spec: { limits: [] } } }),
    sample('policy/v1 poddisruptionbudgets', 'PodDisruptionBudget', {
      more: { spec: { minAvailable: 1, selector: { matchLabels: { app: 'other' } } } },
    }),
    sample('rbac.authorization.k8s.io/v1 roles', 'Role', { more: { rules: [] } }),
    sample('rbac.authorization.k8s.io/v1 rolebindings', 'RoleBinding', { more: { roleRef, subjects } }),
    sample('apps/v1 controllerrevisions', 'ControllerRevision', {
      ...{ undeployable: true, more: { revision: 1, data: {} } },
    }),
    sample('v1 events', 'Event', {
      undeployable: true,
      more: { involvedObject: { kind: 'Pod', name: 'web', namespace }, reason: 'Tested' },
    }),
  ];
}

function listGlobal(global: Sample, namespace: string): KindSample[] {
  const plural = namespace.replaceAll('-', '');
  const schema = { openAPIV3Schema: { type: 'object' } };
  const names = { plural, singular: plural, kind: plural };
  const versions = [{ name: 'v1', served: true, storage: true, schema }];
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: namespace };
  const capacity = { storage: '1Mi' };
  const volume = { capacity, accessModes: ['ReadWriteOnce'], hostPath: { path: '/tmp/none' } };
  const admission = 'admissionregistration.k8s.io/v1';
  return [
    global('v1 namespaces', 'Namespace', { spellings: ['ns', 'NAMESPACE'], name: `${namespace}-more` }),
    global('rbac.authorization.k8s.io/v1 clusterroles', 'ClusterRole', { more: { rules: [] } }),
    global('rbac.authorization.k8s.io/v1 clusterrolebindings', 'ClusterRoleBinding', { more: { roleRef } }),
    global('apiextensions.k8s.io/v1 customresourcedefinitions', 'CustomResourceDefinition', {
      ...{ spellings: ['crd'], name: `${plural}.stable.example.com` },
      more: { spec: { group: 'stable.example.com', scope: 'Namespaced', names, versions } },
    }),
    global('storage.k8s.io/v1 storageclasses', 'StorageClass', {
      ...{ spellings: ['sc'], more: { provisioner: 'example.com/none' } },
    }),
    global('v1 persistentvolumes', 'PersistentVolume', { spellings: ['pv'], more: { spec: volume } }),
    global(`${admission} mutatingwebhookconfigurations`, 'MutatingWebhookConfiguration'),
    global(`${admission} validatingwebhookconfigurations`, 'ValidatingWebhookConfiguration'),
    global('apiregistration.k8s.io/v1 apiservices', 'APIService', {
      ...{ spellings: ['apiservice'], name: `v1.${namespace}.example.com` },
      more: {
        spec: {
          ...{ group: `${namespace}.example.com`, version: 'v1' },
          ...{ groupPriorityMinimum: 100, versionPriority: 100 },
        },
      },
    }),
  ];
}

/** Kinds without a row in the table: Spinnaker treats them all alike. */
function listUnknown(sample: Sample, global: Sample): KindSample[] {
  const holder = { holderIdentity: 'web', leaseDurationSeconds: 15 };
  return [
    sample('v1 endpoints', 'Endpoints', { spellings: ['endpoints', 'ENDPOINTS'], name: 'lone' }),
    sample('v1 resourcequotas', 'ResourceQuota', { more: { spec: { hard: { 'count/leases': '100' } } } }),
    sample('coordination.k8s.io/v1 leases', 'Lease', {
      ...{ spellings: ['lease.coordination.k8s.io'], more: { spec: holder } },
    }),
    sample('discovery.k8s.io/v1 endpointslices', 'EndpointSlice', {
      ...{ spellings: ['ENDPOINTSLICE.discovery.k8s.io'], name: 'lone' },
      more: { addressType: 'IPv4', endpoints: [] },
    }),
    global('scheduling.k8s.io/v1 priorityclasses', 'PriorityClass', { more: { value: 7 } }),
    global('storage.k8s.io/v1 csidrivers', 'CSIDriver', {
      ...{ spellings: ['csidriver'], more: { spec: { attachRequired: false } } },
    }),
    global('node.k8s.io/v1 runtimeclasses', 'RuntimeClass', { more: { handler: 'none' } }),
  ];
}

/** Groups whose kinds Spinnaker names with the group. */
const namedGroups = ['coordination.k8s.io', 'discovery.k8s.io', 'node.k8s.io'];
/** Kinds whose name is not the kind with a small first letter. */
const oddNames: { readonly [kind: string]: string } = {
  ...{ APIService: 'apiService', CSIDriver: 'csiDriver' },
  ...{ HorizontalPodAutoscaler: 'horizontalpodautoscaler' },
  ...{ Endpoints: 'Endpoints', ResourceQuota: 'ResourceQuota', PriorityClass: 'PriorityClass' },
};

function toSpinnakerKind(kind: string, apiVersion: string): string {
  const group = apiVersion.split('/')[0] ?? '';
  if (namedGroups.includes(group)) return `${kind}.${group}`;
  return oddNames[kind] ?? kind.charAt(0).toLowerCase() + kind.slice(1);
}
