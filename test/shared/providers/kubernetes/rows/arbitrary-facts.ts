import fc from 'fast-check';
import type { Moniker } from '#core/frigga.ts';
import { builtInKinds } from '#providers/kubernetes/kinds/index.ts';
import { spinnakerKinds } from '#providers/kubernetes/kinds/kind.ts';
import type { ObjectFacts, PortFacts, ServerGroupFacts } from '#providers/kubernetes/rows/facts.ts';

const kindName = fc.oneof(
  fc.constantFrom(...builtInKinds.map(({ name }) => name)),
  fc.constantFrom('CronTab.stable.example.com', 'Rollout.argoproj.io'),
);
/** Names as Kubernetes takes them, some of Spinnaker's convention. */
const objectName = fc.oneof(
  fc.stringMatching(/^[a-z0-9]([a-z0-9.-]{0,12}[a-z0-9])?$/),
  fc.constantFrom('web', 'web-v003', 'web-6d5f-x7k2p', 'system:node', 'shop-prod-eu-v012', 'db-0'),
);
/** Label keys that are also members of every object must not confuse anything. */
const labelKey = fc.constantFrom(
  ...['app', 'constructor', 'toString', 'topology.kubernetes.io/zone', 'tier', 'v'],
);
const labels = fc
  .dictionary(labelKey, fc.constantFrom('', 'web', 'db', 'v001'), { maxKeys: 4 })
  // The API server writes them in the order of their keys.
  .map((map) => Object.fromEntries(Object.entries(map).sort()));
const moniker: fc.Arbitrary<Moniker> = fc.record(
  {
    app: fc.constantFrom('shop', 'web', ''),
    cluster: fc.constantFrom('deployment web', 'web'),
    stack: fc.constantFrom('prod', ''),
    detail: fc.constant('main'),
    sequence: fc.nat(2000),
  },
  { requiredKeys: [] },
);
const seconds = fc.integer({ min: 0, max: 4_000_000_000 }).map((second) => second * 1000);
const owner = fc.record({ kind: kindName, name: objectName, uid: fc.uuid(), isManager: fc.boolean() });
const port: fc.Arbitrary<PortFacts> = fc.record(
  {
    protocol: fc.constantFrom('TCP', 'UDP'),
    port: fc.oneof(fc.integer({ min: 1, max: 65535 }), fc.constant('http')),
    endPort: fc.integer({ min: 1, max: 65535 }),
  },
  { requiredKeys: [] },
);
const containers = fc.array(fc.record({ name: objectName, isReady: fc.boolean() }), { maxLength: 3 });
const pod = fc.record({ phase: fc.constantFrom('', 'Pending', 'Running', 'Succeeded'), containers });
const workload = fc.record(
  {
    replicas: fc.nat(100),
    images: fc.array(fc.constantFrom('a:1', 'b@sha256:0'), { maxLength: 2 }),
    podLabels: labels,
    loadBalancers: fc.array(fc.constantFrom('service web', 'service db'), { maxLength: 2 }),
    serviceName: objectName,
  },
  { requiredKeys: ['images', 'podLabels', 'loadBalancers'] },
);

/** Facts of any object, and combinations that no object has. */
export const anyFacts: fc.Arbitrary<ObjectFacts> = fc.record(
  {
    kind: kindName,
    spinnakerKind: fc.constantFrom(...spinnakerKinds),
    apiVersion: fc.constantFrom('v1', 'apps/v1', 'batch/v1', ''),
    namespace: fc.constantFrom('', 'shop'),
    name: objectName,
    uid: fc.uuid(),
    resourceVersion: fc.nat().map(String),
    createdTime: seconds,
    labels,
    moniker,
    owners: fc.array(owner, { maxLength: 2 }),
    workload,
    pod,
    service: fc.record({ selector: labels }),
    ingress: fc.record({ services: fc.array(objectName, { maxLength: 2 }) }),
    networkPolicy: fc.record({
      inbound: fc.array(port, { maxLength: 2 }),
      outbound: fc.array(port, { maxLength: 2 }),
    }),
  },
  {
    requiredKeys: [
      'kind',
      'spinnakerKind',
      'apiVersion',
      'namespace',
      'name',
      'uid',
      'resourceVersion',
      'labels',
      'moniker',
      'owners',
    ],
  },
);

/** A server group with pods that are more or less what it makes of them. */
export const anyServerGroup: fc.Arbitrary<ServerGroupFacts> = fc
  .record({ facts: anyFacts, workload })
  .map(({ facts, workload }): ObjectFacts => ({ ...facts, workload }))
  .chain((facts) => fc.record({ facts: fc.constant(facts), instances: fc.array(anyInstanceOf(facts)) }));

function anyInstanceOf(serverGroup: ObjectFacts): fc.Arbitrary<ObjectFacts> {
  const { kind, name, uid, namespace, moniker: own } = serverGroup;
  const { sequence: _, ...unversioned } = own;
  const expected: fc.Arbitrary<Partial<ObjectFacts>> = fc.record({
    kind: fc.constant('pod'),
    spinnakerKind: fc.constant('instances' as const),
    apiVersion: fc.constant('v1'),
    namespace: fc.constantFrom(namespace, namespace, 'elsewhere'),
    name: fc.oneof(
      objectName.map((suffix) => `${name}-${suffix}`),
      objectName,
    ),
    labels: fc.oneof(fc.constant(serverGroup.workload?.podLabels ?? {}), labels),
    moniker: fc.oneof(fc.constantFrom(own, unversioned), moniker),
    owners: fc.oneof(fc.constant([{ kind, name, uid, isManager: false }]), fc.array(owner, { maxLength: 2 })),
    pod,
  });
  const asExpected = fc.record({ base: anyFacts, expected }).map(({ base, expected }): ObjectFacts => {
    const { uid, resourceVersion, createdTime } = base;
    const more = createdTime === undefined ? {} : { createdTime };
    return { ...base, ...expected, uid, resourceVersion, ...more };
  });
  return fc.oneof({ weight: 5, arbitrary: asExpected.map(omitForeign) }, anyFacts);
}

/** Only what a pod has. */
function omitForeign(facts: ObjectFacts): ObjectFacts {
  const { workload: _, service: __, ingress: ___, networkPolicy: ____, ...rest } = facts;
  return rest;
}
