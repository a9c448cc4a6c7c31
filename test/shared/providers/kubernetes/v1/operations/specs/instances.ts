import { asString, getPath, type JsonValue } from '#core/json.ts';
import { refuseBy } from '#test/support/conformance/operation-spec.ts';
import type { KubernetesOperationSpec, KubernetesPlace } from '../../../operations/specs/spec.ts';
import {
  createPod,
  formatOutside,
  listBadAccounts,
  listBadNamespaces,
  noName,
  readOwnLabels,
} from './worlds.ts';

const prefixes = {
  register: 'registerKubernetesAtomicOperationDescription',
  deregister: 'deregisterKubernetesAtomicOperationDescription',
  terminate: 'terminateKubernetesInstancesAtomicOperationDescription',
};

const badInstances = (operation: string, prefix: string) => [
  ...listBadAccounts(operation),
  ...listBadNamespaces(operation, prefix),
  refuseBy(prefix)({ instanceIds: [] }, 'instanceIds'),
  refuseBy(prefix)(
    { instanceIds: ['web', '../secrets'] },
    'instanceIds[1]',
    'invalid (Must match ^[a-z0-9]+([-\\.a-z0-9]*[a-z0-9])?$)',
  ),
];

const badRegistrations = (operation: string, prefix: string) => [
  ...badInstances(operation, prefix),
  refuseBy(prefix)({ loadBalancerNames: null }, 'loadBalancerNames'),
  refuseBy(prefix)({ loadBalancerNames: ['Front'] }, 'loadBalancerNames[0]', noName),
];

/** Of three pods two go; one more is gone already. */
export const terminateInstances: KubernetesOperationSpec = {
  world: () => ['web-a', 'web-b', 'web-c'].map((name) => createPod(name)),
  context: ({ place }) => ({ instanceIds: ['web-a', 'web-c', 'web-z', 'web-a'], namespace: place }),
  invalid: badInstances('terminateInstances', prefixes.terminate),
  outside: formatOutside(prefixes.terminate),
  outsideNames: 'namespace',
  calls: { GET: 5, DELETE: 2 },
  history: [
    'Initializing terminate instances operation...',
    'Looking up provided namespace...',
    'Successfully terminated provided instances.',
  ],
  secrets: [],
  look: ({ listNames }) => listNames('pods'),
  effect: () => ['web-b'],
};

/** A pod that is out of service, and one that never was in it, come into it behind both load balancers. */
export const registerInstances: KubernetesOperationSpec = {
  world: () => [
    createPod('web-a', { 'load-balancer-front': 'false' }),
    createPod('web-b', { app: 'web' }),
    createPod('web-c'),
  ],
  context: ({ place }) => ({
    ...{ instanceIds: ['web-a', 'web-b'], loadBalancerNames: ['front', 'back'], namespace: place },
  }),
  invalid: badRegistrations('registerInstancesWithLoadBalancer', prefixes.register),
  outside: formatOutside(prefixes.register),
  outsideNames: 'namespace',
  calls: { GET: 2, PATCH: 2 },
  history: [
    'Initializing register operation...',
    'Looking up provided namespace...',
    'Setting new service labels from each pod...',
    'Finished registering all pods.',
  ],
  secrets: [],
  look: lookAtLabels,
  effect: () => ({
    'web-a': { 'load-balancer-front': 'true', 'load-balancer-back': 'true' },
    'web-b': { app: 'web', 'load-balancer-front': 'true', 'load-balancer-back': 'true' },
    'web-c': {},
  }),
};

/** One pod goes out of service of one load balancer; another is gone already. */
export const deregisterInstances: KubernetesOperationSpec = {
  ...registerInstances,
  world: () =>
    ['web-a', 'web-b'].map((name) =>
      createPod(name, { 'load-balancer-front': 'true', 'load-balancer-back': 'true' }),
    ),
  context: ({ place }) => ({
    ...{ instanceIds: ['web-a', 'web-z'], loadBalancerNames: ['front'], namespace: place },
  }),
  invalid: badRegistrations('deregisterInstancesFromLoadBalancer', prefixes.deregister),
  outside: formatOutside(prefixes.deregister),
  calls: { GET: 2, PATCH: 1 },
  history: [
    'Initializing deregister operation...',
    'Looking up provided namespace...',
    'Setting new service labels from each pod...',
    'Finished deregistering all pods.',
  ],
  effect: () => ({
    'web-a': { 'load-balancer-front': 'false', 'load-balancer-back': 'true' },
    'web-b': { 'load-balancer-front': 'true', 'load-balancer-back': 'true' },
  }),
};

async function lookAtLabels({ listItems }: KubernetesPlace): Promise<JsonValue> {
  const pods = await listItems('pods');
  return Object.fromEntries(
    pods.map((pod) => [asString(getPath(pod, 'metadata', 'name')) ?? '', readOwnLabels(pod)]),
  );
}
