import fc, { type Arbitrary } from 'fast-check';
import type { JsonObject, JsonValue } from '#core/json.ts';
import type { Manifest } from '#providers/kubernetes/api/manifest.ts';
import { clusterScoped, namespaced, patchBySomebody } from './builders.ts';
import { deploymentSpecs, podTemplates } from './generated-workloads.ts';
import { maybe, pick, shuffle, shuffleSome, texts } from './generators.ts';
import { namePlaceholder, type Pair } from './pair.ts';

/** A kind and how its manifests vary. Any two of them must be acceptable one after the other. */
interface Variation {
  readonly type: string;
  readonly manifests: Arbitrary<JsonObject>;
  /** What somebody else may set in between, and where. */
  readonly foreign?: { readonly resource: string; readonly bodies: Arbitrary<JsonObject> };
  readonly isClusterScoped?: true;
  readonly count: number;
}

const labels = maybe({ a: texts, b: texts, c: pick('x', 'y'), d: fc.constant('1') });
const annotations = maybe({
  'example.com/a': pick<JsonValue>('<b>&amp;', 'ü😀', '', '{"a":[1]}', null),
  'example.com/b': pick<JsonValue>('1', 'two words', '\u2028\n\t'),
});
const metadata = maybe({
  labels,
  annotations,
  finalizers: shuffleSome('example.com/x', 'example.com/y', 'example.com/z'),
});
const foreignMetadata = maybe({
  labels: maybe({ a: pick<JsonValue>('foreign', null), e: fc.constant('foreign') }),
  annotations: maybe({ 'example.com/c': fc.constant('foreign') }),
});

const data = maybe({ a: texts, b: texts, 'c.txt': texts, 10: texts, 9: pick<JsonValue>('1', null) });

const servicePorts = shuffleSome<JsonObject>(
  { name: 'web', port: 80 },
  { name: 'web-tls', port: 443, targetPort: 'tls' },
  { name: 'dns', port: 53, protocol: 'UDP' },
  { name: 'dns-tcp', port: 53, protocol: 'TCP' },
  { name: 'high', port: 8080, targetPort: 9, appProtocol: 'http' },
);
const services = fc.record({
  metadata,
  spec: fc.record(
    {
      ports: servicePorts.map((ports) => (ports.length > 0 ? ports : [{ name: 'only', port: 1 }])),
      selector: maybe({ app: fc.constant(namePlaceholder), tier: texts }),
      type: pick('ClusterIP', 'NodePort'),
      sessionAffinity: pick('ClientIP', 'None'),
      internalTrafficPolicy: pick('Local', 'Cluster'),
    },
    { requiredKeys: ['ports'] },
  ),
});

const backends = pick<JsonObject>(
  { service: { name: 'a', port: { number: 80 } } },
  { service: { name: 'b', port: { name: 'web' } } },
);
const rules = fc.record({
  host: pick('a.example', 'b.example', 'c.example'),
  http: fc.record({
    paths: fc.array(
      fc.record({ path: pick('/', '/x'), pathType: pick('Prefix', 'Exact'), backend: backends }),
      { minLength: 1, maxLength: 2 },
    ),
  }),
});
const ingresses = fc.record({
  metadata,
  spec: fc.record(
    {
      defaultBackend: backends,
      rules: fc.array(rules, { maxLength: 3 }),
      tls: shuffleSome<JsonObject>(
        { hosts: ['a.example'] },
        { hosts: ['b.example', 'c.example'], secretName: 's' },
      ),
      ingressClassName: pick('x', 'y'),
    },
    { requiredKeys: ['defaultBackend'] },
  ),
});

const selectors = fc.record(
  {
    matchLabels: labels,
    matchExpressions: shuffleSome<JsonObject>(
      { key: 'a', operator: 'Exists' },
      { key: 'b', operator: 'In', values: ['1', '2'] },
    ),
  },
  { requiredKeys: [] },
);
const peers = fc.array(
  fc.oneof(
    fc.record({ podSelector: selectors }),
    fc.record({ namespaceSelector: selectors }),
    fc.constant({ ipBlock: { cidr: '10.0.0.0/8' } }),
  ),
  { maxLength: 2 },
);
const policies = fc.record({
  metadata,
  spec: fc.record(
    {
      podSelector: selectors,
      ingress: fc.array(
        maybe({
          from: peers,
          ports: shuffleSome<JsonObject>({ port: 80 }, { port: 'web', protocol: 'TCP' }),
        }),
        { maxLength: 2 },
      ),
      egress: fc.array(maybe({ to: peers }), { maxLength: 2 }),
      policyTypes: pick<JsonValue>(['Ingress'], ['Ingress', 'Egress'], ['Egress', 'Ingress']),
    },
    { requiredKeys: ['podSelector'] },
  ),
});

const roleRules = shuffleSome<JsonObject>(
  { apiGroups: [''], resources: ['pods', 'services'], verbs: ['get', 'list'] },
  { apiGroups: ['apps'], resources: ['deployments'], verbs: ['*'], resourceNames: ['a'] },
  { apiGroups: ['', 'batch'], resources: ['*'], verbs: ['watch'] },
);
const subjects = shuffleSome<JsonObject>(
  { kind: 'User', name: 'a', apiGroup: 'rbac.authorization.k8s.io' },
  { kind: 'Group', name: 'b', apiGroup: 'rbac.authorization.k8s.io' },
  { kind: 'ServiceAccount', name: 'c', namespace: 'default' },
);
const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' };

const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'nobody' };
const metrics = shuffleSome<JsonObject>(
  { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
  {
    type: 'Resource',
    resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '1024Mi' } },
  },
);
const autoscalers = fc.record({
  metadata,
  spec: fc.record(
    {
      scaleTargetRef: fc.constant(scaleTargetRef),
      maxReplicas: fc.integer({ min: 3, max: 5 }),
      minReplicas: fc.integer({ min: 1, max: 3 }),
      metrics,
      behavior: maybe({
        scaleUp: maybe({
          stabilizationWindowSeconds: fc.integer({ min: 0, max: 9 }),
          selectPolicy: pick('Min', 'Max'),
        }),
      }),
    },
    { requiredKeys: ['scaleTargetRef', 'maxReplicas'] },
  ),
});

const budgets = fc.record({
  metadata,
  spec: fc
    .tuple(
      pick<JsonObject>({ minAvailable: 1 }, { maxUnavailable: '20%' }, { minAvailable: '5%' }),
      maybe({ selector: selectors }),
    )
    .map(([limit, rest]) => ({ ...limit, ...rest })),
});

const references = shuffleSome<JsonObject>({ name: 'a' }, { name: 'b' }, { name: 'c' });

/** Any JSON that a custom resource may hold: nulls, empty objects and lists included. */
const anyJson = fc.letrec<{ value: JsonValue; object: JsonObject }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    pick<JsonValue>(1, 2.5, 'a', '<&>', '', true, null),
    tie('object'),
    fc.array(tie('value'), { maxLength: 2 }),
  ),
  object: fc.dictionary(pick('a', 'b', 'c', 'd'), tie('value'), { maxKeys: 3 }),
})).object;
const elements = shuffle(['a', 'b', 'c'], pick('1', '2')).map((chosen) =>
  chosen.map(([name, value]) => ({ name, value })),
);
const customSpecs = fc
  .tuple(anyJson, maybe({ items: elements, size: fc.integer({ min: 1, max: 3 }) }))
  .map(([free, known]) => ({ free, ...known }));

const foreignData = fc.record({
  metadata: foreignMetadata,
  data: maybe({ a: pick<JsonValue>('foreign', null), z: fc.constant('1') }),
});
const foreignLabels = fc.record({ metadata: foreignMetadata });

const variations: readonly Variation[] = [
  {
    type: 'apps/v1 Deployment',
    manifests: fc.record({ metadata, spec: deploymentSpecs }),
    foreign: {
      resource: '/apis/apps/v1 deployments',
      bodies: fc.record({
        metadata: foreignMetadata,
        spec: maybe({ replicas: fc.integer({ min: 0, max: 9 }) }),
      }),
    },
    count: 32,
  },
  {
    type: 'apps/v1 StatefulSet',
    manifests: fc.record({
      metadata,
      spec: fc.record(
        {
          serviceName: fc.constant('s'),
          replicas: fc.constant(0),
          selector: fc.constant({ matchLabels: { app: namePlaceholder } }),
          template: podTemplates,
          updateStrategy: pick<JsonObject>(
            { type: 'OnDelete' },
            { type: 'RollingUpdate', rollingUpdate: { partition: 2 } },
          ),
          minReadySeconds: fc.integer({ min: 0, max: 3 }),
        },
        { requiredKeys: ['serviceName', 'replicas', 'selector', 'template'] },
      ),
    }),
    count: 8,
  },
  {
    type: 'batch/v1 CronJob',
    manifests: fc.record({
      metadata,
      spec: fc.record(
        {
          schedule: pick('0 0 1 1 *', '0 0 2 1 *'),
          suspend: fc.constant(true),
          jobTemplate: podTemplates.map((template) => {
            const spec = template['spec'] as JsonObject;
            return { spec: { template: { ...template, spec: { ...spec, restartPolicy: 'Never' } } } };
          }),
          concurrencyPolicy: pick('Forbid', 'Replace'),
          successfulJobsHistoryLimit: fc.integer({ min: 0, max: 5 }),
        },
        { requiredKeys: ['schedule', 'suspend', 'jobTemplate'] },
      ),
    }),
    count: 8,
  },
  {
    type: 'v1 Service',
    manifests: services,
    foreign: { resource: '/api/v1 services', bodies: foreignLabels },
    count: 12,
  },
  {
    type: 'v1 ConfigMap',
    manifests: fc.record({ metadata, data: fc.option(data) }),
    foreign: { resource: '/api/v1 configmaps', bodies: foreignData },
    count: 10,
  },
  {
    type: 'v1 Secret',
    manifests: fc.record({ metadata, stringData: maybe({ a: texts, b: texts }) }),
    count: 6,
  },
  {
    type: 'v1 ServiceAccount',
    manifests: maybe({
      metadata,
      secrets: references,
      imagePullSecrets: references,
      automountServiceAccountToken: fc.boolean(),
    }),
    count: 6,
  },
  { type: 'networking.k8s.io/v1 Ingress', manifests: ingresses, count: 8 },
  { type: 'networking.k8s.io/v1 NetworkPolicy', manifests: policies, count: 10 },
  { type: 'rbac.authorization.k8s.io/v1 Role', manifests: maybe({ metadata, rules: roleRules }), count: 5 },
  {
    type: 'rbac.authorization.k8s.io/v1 ClusterRole',
    manifests: maybe({ metadata, rules: roleRules }),
    isClusterScoped: true,
    count: 4,
  },
  {
    type: 'rbac.authorization.k8s.io/v1 RoleBinding',
    manifests: fc.record(
      { metadata, roleRef: fc.constant(roleRef), subjects },
      { requiredKeys: ['roleRef'] },
    ),
    count: 5,
  },
  { type: 'policy/v1 PodDisruptionBudget', manifests: budgets, count: 6 },
  { type: 'autoscaling/v2 HorizontalPodAutoscaler', manifests: autoscalers, count: 8 },
  {
    type: 'differential.busdriver.example/v1 Gadget',
    manifests: fc.record({ metadata, spec: customSpecs }),
    foreign: {
      resource: '/apis/differential.busdriver.example/v1 gadgets',
      bodies: fc.record({ metadata: foreignMetadata, spec: fc.record({ free: anyJson }) }),
    },
    count: 18,
  },
  {
    type: 'differential.busdriver.example/v1 Gizmo',
    manifests: fc.record({ metadata, spec: customSpecs }),
    count: 6,
  },
];

/**
 * Pairs of generated manifests, the same in every run.
 *
 * @param seed another one gives other pairs
 * @param share of those that there are to be of each kind, from 0 to 1
 */
export function generatePairs(seed: number, share: number): Pair[] {
  return variations.flatMap((variation, index) =>
    fc.sample(generatePair(variation), { seed: seed + index, numRuns: Math.ceil(variation.count * share) }),
  );
}

function generatePair({ type, manifests, foreign, isClusterScoped }: Variation): Arbitrary<Pair> {
  const build = isClusterScoped ? clusterScoped : namespaced;
  const toManifest = (members: JsonObject): Manifest => build(type, members);
  const between = foreign
    ? fc
        .array(foreign.bodies, { maxLength: 1 })
        .map((bodies) => bodies.map((body) => patchBySomebody(foreign.resource, body)))
    : fc.constant([]);
  return fc.record({ first: manifests, second: manifests, between }).map(({ first, second, between }) => ({
    title: `generated ${type}`,
    first: toManifest(first),
    between,
    second: toManifest(second),
  }));
}
