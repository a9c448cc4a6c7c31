import type { JsonObject, JsonValue } from '#core/json.ts';
import type { Manifest } from '#providers/kubernetes/api/manifest.ts';
import { clusterScoped, configMap, deployment, namespaced, podTemplate } from './builders.ts';
import { getTarget, type OperationCase } from './operation-case.ts';
import { namePlaceholder, namespacePlaceholder } from './pair.ts';

type Strategy = 'strategic' | 'merge' | 'json';

interface PatchCase {
  readonly title: string;
  readonly body: JsonValue;
  /** Default: a Deployment. */
  readonly object?: Subject;
  readonly record?: boolean;
  readonly fails?: boolean;
}

interface Subject {
  readonly kind: string;
  readonly name: string;
  readonly manifest: Manifest;
  readonly target: string;
}

const workload: Subject = {
  kind: 'deployment',
  name: namePlaceholder,
  manifest: {
    ...deployment({ containers: [{ name: 'main', image: 'registry.example/main:1', args: ['a', 'b'] }] }),
  },
  target: getTarget('apis/apps/v1 deployments'),
};
const config: Subject = {
  kind: 'configMap',
  name: namePlaceholder,
  manifest: configMap({ metadata: { labels: { a: '1' } }, data: { color: 'blue', size: '7' } }),
  target: getTarget('api/v1 configmaps'),
};
const role: Subject = {
  kind: 'clusterRole',
  name: `${namespacePlaceholder}-${namePlaceholder}`,
  manifest: clusterScoped('rbac.authorization.k8s.io/v1 ClusterRole', {
    rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }],
  }),
  target: `/apis/rbac.authorization.k8s.io/v1/clusterroles/${namespacePlaceholder}-${namePlaceholder}`,
};

const podSpec = (spec: JsonObject): JsonObject => ({ spec: { template: { spec } } });
const templateLabels = '/spec/template/metadata/labels';
const containers = '/spec/template/spec/containers';
const sidecar = { name: 'side', image: 'registry.example/side:1', ports: [{ containerPort: 80 }] };

const strategicCases: readonly PatchCase[] = [
  {
    title: 'an image',
    body: podSpec({ containers: [{ name: 'main', image: 'x:2' }] }),
  },
  { title: 'one container more', body: podSpec({ containers: [sidecar] }) },
  {
    title: 'directives',
    body: podSpec({
      containers: [sidecar, { name: 'main', $patch: 'delete' }],
      terminationGracePeriodSeconds: null,
    }),
  },
  {
    title: 'a member removed',
    object: config,
    body: { data: { size: null, shape: 'round' } },
  },
  { title: 'nothing new', object: config, body: { data: { color: 'blue' } } },
  { title: 'noted', body: { spec: { replicas: 0 } }, record: true },
  { title: 'a field that nobody knows', body: { spec: { unknown: 1 } } },
  { title: 'a wrong type', body: { spec: { replicas: 'many' } }, fails: true },
  { title: 'what cannot change', body: { metadata: { name: 'other' } }, fails: true },
  {
    title: 'cluster-scoped',
    object: role,
    body: { metadata: { labels: { a: 'b' } } },
  },
];

const mergeCases: readonly PatchCase[] = [
  { title: 'a list set whole', body: podSpec({ containers: [sidecar] }) },
  {
    title: 'a member removed',
    object: config,
    body: { data: { size: null }, metadata: { labels: null } },
  },
  { title: 'nothing', object: config, body: {} },
  { title: 'noted', object: config, body: { data: { a: '"b" <c>' } }, record: true },
  { title: 'cluster-scoped', object: role, body: { rules: [] } },
];

const jsonCases: readonly PatchCase[] = [
  {
    title: 'an image replaced',
    body: [{ op: 'replace', path: `${containers}/0/image`, value: 'registry.example/main:2' }],
  },
  {
    title: 'lists longer and shorter',
    body: [
      { op: 'add', path: `${containers}/-`, value: sidecar },
      { op: 'add', path: `${containers}/0/args/1`, value: 'between' },
      { op: 'remove', path: `${containers}/0/args/0` },
    ],
  },
  {
    title: 'members',
    object: config,
    body: [
      { op: 'add', path: '/metadata/annotations', value: {} },
      { op: 'add', path: '/metadata/annotations/example.com~1note', value: 'yes' },
      { op: 'remove', path: '/data/size' },
      { op: 'replace', path: '/data/color', value: 'red' },
    ],
  },
  {
    title: 'noted',
    body: [{ op: 'add', path: '/spec/minReadySeconds', value: 5 }],
    record: true,
  },
  {
    title: 'null',
    object: config,
    body: [{ op: 'replace', path: '/metadata/labels', value: null }],
  },
  { title: 'no value', object: config, body: [{ op: 'add', path: '/metadata/labels' }] },
  { title: 'none', object: config, body: [] },
  {
    title: 'what is not there',
    object: config,
    body: [{ op: 'remove', path: '/data/none' }],
    fails: true,
  },
  {
    title: 'beyond a list',
    body: [{ op: 'add', path: `${containers}/7`, value: sidecar }],
    fails: true,
  },
  {
    title: 'cluster-scoped',
    object: role,
    body: [{ op: 'add', path: '/rules/0/verbs/-', value: 'list' }],
  },
];

function toCase(strategy: Strategy, given: PatchCase): OperationCase {
  const { title, body, object = workload, record, fails } = given;
  const flags = [`--type=${strategy}`, `--patch=${JSON.stringify(body)}`];
  return {
    title: `patch --type=${strategy} of a ${object.kind}: ${title}`,
    object: object.manifest,
    target: object.target,
    // In this order Clouddriver wrote them.
    command: ['patch', object.kind, object.name, ...(record ? ['--record=true'] : []), ...flags],
    operation: [
      'patchManifest',
      {
        manifestName: `${object.kind} ${object.name}`,
        patchBody: body,
        options: { mergeStrategy: strategy, ...(record && { record: 'true' }) },
      },
    ],
    ...(fails && { fails }),
  };
}

/** The labels by which the service of the traffic cases selects. */
const served = { serves: 'web', 'example.com/zone': 'a' };

/** Traffic is turned by what Clouddriver turns it with: a JSON patch of labels. */
function toTrafficCase(
  name: 'enableManifest' | 'disableManifest',
  operations: readonly JsonObject[],
): OperationCase {
  const labels = { app: namePlaceholder, ...(name === 'disableManifest' && served) };
  const annotations = { 'traffic.spinnaker.io/load-balancers': `["service ${namePlaceholder}"]` };
  const selector = { matchLabels: { app: namePlaceholder } };
  const spec = { replicas: 0, selector, template: podTemplate({}, { labels }) };
  return {
    title: `patch --type=json of labels: ${name}`,
    object: namespaced('apps/v1 ReplicaSet', { metadata: { annotations }, spec }),
    target: getTarget('apis/apps/v1 replicasets'),
    companion: {
      object: namespaced('v1 Service', { spec: { selector: served, ports: [{ port: 80 }] } }),
      target: getTarget('api/v1 services'),
    },
    command: ['patch', 'replicaSet', namePlaceholder, '--type=json', `--patch=${JSON.stringify(operations)}`],
    operation: [name, { manifestName: `replicaSet ${namePlaceholder}` }],
  };
}

const trafficCases: readonly OperationCase[] = [
  toTrafficCase('enableManifest', [
    { op: 'add', path: `${templateLabels}/serves`, value: 'web' },
    { op: 'add', path: `${templateLabels}/example.com~1zone`, value: 'a' },
  ]),
  toTrafficCase('disableManifest', [
    { op: 'remove', path: `${templateLabels}/serves` },
    { op: 'remove', path: `${templateLabels}/example.com~1zone` },
  ]),
];

export const patchCases: readonly OperationCase[] = [
  ...strategicCases.map((each) => toCase('strategic', each)),
  ...mergeCases.map((each) => toCase('merge', each)),
  ...jsonCases.map((each) => toCase('json', each)),
  ...trafficCases,
];
