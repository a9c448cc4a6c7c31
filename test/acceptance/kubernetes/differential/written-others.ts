import type { JsonObject } from '#core/json.ts';
import { clusterScoped, type Members, namespaced } from './builders.ts';
import { namePlaceholder, namespacePlaceholder, type Pair } from './pair.ts';

function pair(title: string, type: string, [first, second]: readonly [Members, Members]): Pair {
  return { title, first: namespaced(type, first), second: namespaced(type, second) };
}

function clusterPair(title: string, type: string, [first, second]: readonly [Members, Members]): Pair {
  return { title, first: clusterScoped(type, first), second: clusterScoped(type, second) };
}

function specs(title: string, type: string, [first, second]: readonly [JsonObject, JsonObject]): Pair {
  return pair(title, type, [{ spec: first }, { spec: second }]);
}

const dnsTcp = { name: 'dns-tcp', port: 53, protocol: 'TCP' };
const dnsUdp = { name: 'dns-udp', port: 53, protocol: 'UDP' };
const http = { name: 'http', port: 80, targetPort: 'web' };
const https = { name: 'https', port: 443, targetPort: 8443 };
const app = { app: namePlaceholder };

const servicePairs: readonly Pair[] = [
  specs('ports added, removed, reordered', 'v1 Service', [
    { selector: app, ports: [http, https] },
    { selector: app, ports: [{ name: 'other', port: 8080 }, https] },
  ]),
  specs('a target port from a name to a number', 'v1 Service', [
    { ports: [http] },
    { ports: [{ ...http, targetPort: 8080 }] },
  ]),
  specs('a port number of a second protocol', 'v1 Service', [
    { ports: [dnsTcp, http] },
    { ports: [dnsTcp, dnsUdp, http] },
  ]),
  specs('a port number of one protocol less', 'v1 Service', [
    { ports: [dnsUdp, dnsTcp] },
    { ports: [dnsTcp] },
  ]),
  specs('a port number of two protocols, swapped', 'v1 Service', [
    { ports: [dnsTcp, dnsUdp] },
    { ports: [dnsUdp, dnsTcp] },
  ]),
  specs('a port that moves to another number', 'v1 Service', [
    { ports: [http] },
    { ports: [{ ...http, port: 81 }] },
  ]),
  specs('a service that gets node ports', 'v1 Service', [
    { ports: [http], selector: app },
    { ports: [http, https], selector: app, type: 'NodePort' },
  ]),
  specs('a service that loses its node ports', 'v1 Service', [
    { type: 'NodePort', ports: [http] },
    { ports: [http] },
  ]),
  specs('a selector changed and session affinity added', 'v1 Service', [
    { ports: [http], selector: { a: '1', b: '2' } },
    { ports: [http], selector: { b: '3' }, sessionAffinity: 'ClientIP' },
  ]),
  specs('a headless service cannot get an address', 'v1 Service', [
    { clusterIP: 'None', selector: app, ports: [http] },
    { clusterIP: '10.0.0.77', selector: app, ports: [http] },
  ]),
  specs('an external name', 'v1 Service', [
    { type: 'ExternalName', externalName: 'a.example' },
    { type: 'ExternalName', externalName: 'b.example' },
  ]),
  specs('ports of the same number and protocol', 'v1 Service', [
    { ports: [http] },
    { ports: [http, { ...http, name: 'twin' }] },
  ]),
];

const networkingPairs: readonly Pair[] = [
  specs('rules of an ingress, an atomic list', 'networking.k8s.io/v1 Ingress', [
    { rules: [rule('a.example'), rule('b.example')], tls: [{ hosts: ['a.example'], secretName: 's' }] },
    { rules: [rule('b.example'), rule('c.example')] },
  ]),
  specs('from rules to a default backend', 'networking.k8s.io/v1 Ingress', [
    { ingressClassName: 'x', rules: [rule('a.example')] },
    { defaultBackend: { service: { name: 's', port: { name: 'web' } } } },
  ]),
  specs('a network policy that gets rules', 'networking.k8s.io/v1 NetworkPolicy', [
    { podSelector: {}, policyTypes: ['Ingress'] },
    { podSelector: { matchLabels: app }, ingress: [{ from: [{ podSelector: {} }], ports: [{ port: 80 }] }] },
  ]),
  specs('a network policy that loses its rules', 'networking.k8s.io/v1 NetworkPolicy', [
    {
      podSelector: { matchLabels: app },
      egress: [{}],
      ingress: [{ from: [{ ipBlock: { cidr: '10.0.0.0/8' } }] }],
    },
    { podSelector: { matchLabels: app }, ingress: [] },
  ]),
  clusterPair('an ingress class', 'networking.k8s.io/v1 IngressClass', [
    { spec: { controller: 'example.com/a', parameters: { kind: 'A', name: 'b', scope: 'Cluster' } } },
    { spec: { controller: 'example.com/a' }, metadata: { annotations: { a: 'b' } } },
  ]),
];

function rule(host: string): JsonObject {
  const backend = { service: { name: 's', port: { number: 80 } } };
  return { host, http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } };
}

const readPods = { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] };
const readSecrets = { apiGroups: [''], resources: ['secrets'], verbs: ['get'] };
const rbac = 'rbac.authorization.k8s.io/v1';

const accessPairs: readonly Pair[] = [
  pair('rules of a role', `${rbac} Role`, [
    { rules: [readPods, readSecrets] },
    { rules: [readSecrets, { ...readPods, resourceNames: ['a'] }] },
  ]),
  pair('a role without rules', `${rbac} Role`, [{ rules: [readPods] }, { rules: [] }]),
  pair('subjects of a role binding', `${rbac} RoleBinding`, [
    { roleRef: roleRef('view'), subjects: [user('a'), user('b')] },
    { roleRef: roleRef('view'), subjects: [user('c'), user('a')] },
  ]),
  pair('a role binding without subjects', `${rbac} RoleBinding`, [
    { roleRef: roleRef('view'), subjects: [user('a')] },
    { roleRef: roleRef('view') },
  ]),
  pair('the role of a role binding cannot change', `${rbac} RoleBinding`, [
    { roleRef: roleRef('view') },
    { roleRef: roleRef('edit') },
  ]),
  clusterPair('a cluster role that aggregates', `${rbac} ClusterRole`, [
    { rules: [readPods] },
    { rules: [readPods], aggregationRule: { clusterRoleSelectors: [{ matchLabels: { nobody: 'x' } }] } },
  ]),
  clusterPair('a cluster role with a namespace, which is ignored', `${rbac} ClusterRole`, [
    { metadata: { namespace: namespacePlaceholder }, rules: [readPods] },
    { metadata: { namespace: namespacePlaceholder }, rules: [readSecrets] },
  ]),
  clusterPair('a cluster role binding', `${rbac} ClusterRoleBinding`, [
    { roleRef: roleRef('view'), subjects: [user('a')] },
    { roleRef: roleRef('view'), subjects: [user('a'), user('b')] },
  ]),
  pair('a service account, whose secrets merge and whose pull secrets do not', 'v1 ServiceAccount', [
    { secrets: [{ name: 'a' }, { name: 'b' }], imagePullSecrets: [{ name: 'a' }, { name: 'b' }] },
    { secrets: [{ name: 'c' }, { name: 'a' }], imagePullSecrets: [{ name: 'c' }, { name: 'a' }] },
  ]),
  pair('a service account left alone', 'v1 ServiceAccount', [
    { automountServiceAccountToken: false },
    { automountServiceAccountToken: false },
  ]),
];

function roleRef(name: string): JsonObject {
  return { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name };
}

function user(name: string): JsonObject {
  return { apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name };
}

const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'nobody' };
const cpuMetric = {
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } },
};
const memoryMetric = {
  type: 'Resource',
  resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '1Gi' } },
};

const policyPairs: readonly Pair[] = [
  specs('a disruption budget of another measure', 'policy/v1 PodDisruptionBudget', [
    { minAvailable: 1, selector: { matchLabels: { a: '1', b: '2' } } },
    { maxUnavailable: '50%', selector: { matchLabels: { b: '2' } } },
  ]),
  specs('a disruption budget, whose selector is always sent', 'policy/v1 PodDisruptionBudget', [
    { minAvailable: '10%', selector: { matchLabels: { a: '1' } } },
    { minAvailable: '10%', selector: { matchLabels: { a: '1' } } },
  ]),
  specs('an autoscaler: metrics, behaviour', 'autoscaling/v2 HorizontalPodAutoscaler', [
    { scaleTargetRef, maxReplicas: 3, metrics: [cpuMetric, memoryMetric] },
    {
      scaleTargetRef,
      minReplicas: 2,
      maxReplicas: 5,
      metrics: [memoryMetric],
      behavior: { scaleDown: { policies: [{ type: 'Pods', value: 1, periodSeconds: 60 }] } },
    },
  ]),
  specs('an autoscaler of the first version', 'autoscaling/v1 HorizontalPodAutoscaler', [
    { scaleTargetRef, maxReplicas: 3, targetCPUUtilizationPercentage: 50 },
    { scaleTargetRef, maxReplicas: 4 },
  ]),
  specs('a quota', 'v1 ResourceQuota', [
    { hard: { 'count/widgets.example.com': '5', 'count/gadgets.example.com': '6' } },
    { hard: { 'count/widgets.example.com': 7 } },
  ]),
  specs('a limit range, an atomic list', 'v1 LimitRange', [
    { limits: [{ type: 'PersistentVolumeClaim', max: { storage: '100Ti' } }] },
    { limits: [{ type: 'PersistentVolumeClaim', max: { storage: '200Ti' }, min: { storage: 1 } }] },
  ]),
  clusterPair('a priority class', 'scheduling.k8s.io/v1 PriorityClass', [
    { value: 10, description: 'a' },
    { value: 10, description: 'b', metadata: { labels: { a: 'b' } } },
  ]),
  clusterPair(
    'a webhook that meets nothing, by name of the webhook',
    'admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration',
    [
      { webhooks: [webhook('a.example.com'), webhook('b.example.com')] },
      { webhooks: [webhook('c.example.com'), { ...webhook('b.example.com'), failurePolicy: 'Ignore' }] },
    ],
  ),
];

function webhook(name: string): JsonObject {
  return {
    name,
    rules: [
      {
        apiGroups: ['nothing.example.com'],
        apiVersions: ['v1'],
        operations: ['CREATE'],
        resources: ['none'],
      },
    ],
    clientConfig: { url: 'https://127.0.0.1:1/' },
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    matchConditions: [{ name: 'never', expression: 'false' }],
  };
}

const claim = {
  storageClassName: 'nowhere',
  accessModes: ['ReadWriteOnce'],
  resources: { requests: { storage: '1Gi' } },
};
const volume = {
  capacity: { storage: '1Gi' },
  accessModes: ['ReadWriteOnce'],
  storageClassName: 'nowhere',
  claimRef: { namespace: 'default', name: 'nobody' },
};

const storagePairs: readonly Pair[] = [
  pair('a claim that stays as it is', 'v1 PersistentVolumeClaim', [
    { spec: claim },
    { spec: claim, metadata: { labels: { a: 'b' } } },
  ]),
  specs('a claim that cannot shrink', 'v1 PersistentVolumeClaim', [
    claim,
    { ...claim, resources: { requests: { storage: '1Mi' } } },
  ]),
  clusterPair('a volume', 'v1 PersistentVolume', [
    { spec: { ...volume, hostPath: { path: '/a' } } },
    {
      spec: {
        ...volume,
        hostPath: { path: '/a' },
        persistentVolumeReclaimPolicy: 'Delete',
        mountOptions: ['ro'],
      },
    },
  ]),
  clusterPair('a storage class', 'storage.k8s.io/v1 StorageClass', [
    { provisioner: 'example.com/p', allowVolumeExpansion: false, mountOptions: ['a', 'b'] },
    { provisioner: 'example.com/p', allowVolumeExpansion: true, mountOptions: ['b'] },
  ]),
];

const customKindPairs: readonly Pair[] = [
  {
    title: 'a custom kind, itself built in',
    first: customKind({ a: { type: 'string' }, b: { type: 'integer' } }),
    second: customKind({
      a: { type: 'string', enum: ['x'] },
      c: { 'x-kubernetes-preserve-unknown-fields': true },
    }),
  },
];

function customKind(properties: JsonObject): JsonObject {
  const group = `${namespacePlaceholder}.example.com`;
  const openAPIV3Schema = { type: 'object', properties: { spec: { type: 'object', properties } } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${namePlaceholder}s.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: `${namePlaceholder}s`, kind: 'Widget' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  };
}

export const others: readonly Pair[] = [
  ...servicePairs,
  ...networkingPairs,
  ...accessPairs,
  ...policyPairs,
  ...storagePairs,
  ...customKindPairs,
];
