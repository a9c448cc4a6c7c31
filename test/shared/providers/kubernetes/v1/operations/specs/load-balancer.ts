import { getPath, type JsonValue } from '#core/json.ts';
import { refuseBy } from '#test/support/conformance/operation-spec.ts';
import { createManifest, createService } from '../../../manifests.ts';
import type { KubernetesOperationSpec, KubernetesPlace } from '../../../operations/specs/spec.ts';
import { formatOutside, listBadAccounts, noName } from './worlds.ts';

const prefixes = {
  upsert: 'upsertKubernetesLoadBalancerAtomicOperationDescription',
  delete: 'deleteKubernetesLoadBalancerAtomicOperationDescription',
};
const byCode = { delete: refuseBy(prefixes.delete), upsert: refuseBy(prefixes.upsert) };
const port = { name: 'http', protocol: 'TCP', port: '80', targetPort: '8080' };

const lines = [
  'Setting name, label selectors, & annotations...',
  'Adding ports...',
  'Adding external IPs...',
  'Setting type...',
  'Setting load balancer IP...',
  'Setting cluster IP...',
  'Setting session affinity...',
  'Finished upserting load balancer front.',
];

async function lookAtFront({ findLive }: KubernetesPlace): Promise<JsonValue> {
  const live = await findLive('services/front');
  const spec = (member: string) => getPath(live, 'spec', member) ?? null;
  return {
    selector: spec('selector'),
    ports: spec('ports'),
    type: spec('type'),
    sessionAffinity: spec('sessionAffinity'),
    annotations: getPath(live, 'metadata', 'annotations') ?? null,
    labels: getPath(live, 'metadata', 'labels') ?? null,
  };
}

/** A Service is created. */
export const createFront: KubernetesOperationSpec = {
  world: () => [],
  context: ({ place }) => ({ name: 'front', namespace: place, ports: [port], sessionAffinity: 'ClientIP' }),
  invalid: [
    ...listBadAccounts('upsertLoadBalancer'),
    byCode.upsert({ name: null }, 'name'),
    byCode.upsert({ loadBalancerName: 'No' }, 'name', noName),
    byCode.upsert({ namespace: 'a/b' }, 'namespace', noName),
    byCode.upsert({ ports: [{ ...port, name: '' }] }, 'ports[0].name'),
    byCode.upsert({ ports: [{ ...port, protocol: null }] }, 'ports[0].protocol'),
    byCode.upsert(
      { ports: [{ ...port, nodePort: 65_536 }] },
      'ports[0].nodePort',
      'invalid (Must be in range [1, 65535])',
    ),
    byCode.upsert({ externalIps: ['10.0.0'] }, 'externalIps[0]', 'invalid (Not valid IPv4 address)'),
    byCode.upsert({ clusterIp: 'none' }, 'clusterIp', 'invalid (Not valid IPv4 address)'),
    byCode.upsert({ sessionAffinity: 'IP' }, 'sessionAffinity', 'invalid (Must be one of [None, ClientIP])'),
    byCode.upsert(
      { serviceType: 'ExternalName' },
      'serviceType',
      'invalid (Must be one of [ClusterIP, NodePort, LoadBalancer])',
    ),
  ],
  outside: formatOutside(prefixes.upsert),
  outsideNames: 'namespace',
  calls: { GET: 2, POST: 1 },
  history: [
    'Initializing upsert of load balancer front...',
    'Looking up provided namespace...',
    'Looking up existing load balancer...',
    ...lines,
  ],
  result: { loadBalancers: { PLACE: { name: 'front' } } },
  secrets: [],
  look: lookAtFront,
  effect: () => ({
    selector: { 'load-balancer-front': 'true' },
    ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080 }],
    type: 'ClusterIP',
    sessionAffinity: 'ClientIP',
    annotations: null,
    labels: null,
  }),
};

/** A Service that is there keeps what is left out. */
export const changeFront: KubernetesOperationSpec = {
  ...createFront,
  world: () => [
    createManifest('v1', 'Service', {
      name: 'front',
      annotations: { kept: 'yes' },
      more: { spec: { selector: { app: 'web' }, sessionAffinity: 'ClientIP', ports: [{ port: 81 }] } },
    }),
  ],
  context: ({ place }) => ({
    ...{ name: 'other', loadBalancerName: 'front', namespace: place },
    ...{ ports: [port], serviceLabels: { team: 'shop' } },
  }),
  invalid: [],
  calls: { GET: 2, PUT: 1 },
  history: [
    'Initializing upsert of load balancer front...',
    'Looking up provided namespace...',
    'Looking up existing load balancer...',
    'Found existing load balancer with name front.',
    ...lines,
  ],
  effect: () => ({
    selector: { 'load-balancer-front': 'true' },
    ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080 }],
    type: 'ClusterIP',
    sessionAffinity: 'ClientIP',
    annotations: { kept: 'yes' },
    labels: { team: 'shop' },
  }),
};

/** Of two Services one goes. */
export const deleteLoadBalancer: KubernetesOperationSpec = {
  world: () => [createService('front', { serves: 'web' }), createService('back', { serves: 'web' })],
  context: ({ place }) => ({ loadBalancerName: 'front', namespace: place }),
  invalid: [
    ...listBadAccounts('deleteLoadBalancer'),
    byCode.delete({ loadBalancerName: '' }, 'loadBalancerName'),
    byCode.delete({ namespace: 'a/b' }, 'namespace', noName),
  ],
  outside: formatOutside(prefixes.delete),
  outsideNames: 'namespace',
  calls: { GET: 2, DELETE: 1 },
  history: [
    'Initializing delete of load balancer front...',
    'Looking up provided namespace...',
    'Successfully deleted load balancer front.',
  ],
  secrets: [],
  look: ({ listNames }) => listNames('services'),
  effect: () => ['back'],
};
