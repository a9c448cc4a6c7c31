import { refuseBy } from '#test/support/conformance/operation-spec.ts';
import { lookAtSpec } from '../../../operations/specs/look.ts';
import type { KubernetesOperationSpec } from '../../../operations/specs/spec.ts';
import {
  createAutoscaler,
  createController,
  formatOutside,
  listBadServerGroups,
  lookAtNames,
  lookAtService,
} from './worlds.ts';

const prefixes = {
  resize: 'resizeKubernetesAtomicOperationDescription',
  destroy: 'destroyKubernetesAtomicOperationDescription',
  enable: 'enableKubernetesAtomicOperationDescription',
  disable: 'disableKubernetesAtomicOperationDescription',
};
const target = ({ place }: { readonly place: string }) => ({
  serverGroupName: 'kub-test-v000',
  namespace: place,
});

/** A ReplicationController without pods gets one. */
export const resizeServerGroup: KubernetesOperationSpec = {
  world: () => [createController('kub-test-v000', { replicas: 0 })],
  context: (inputs) => ({ ...target(inputs), capacity: { min: 0, max: 9, desired: '1' } }),
  invalid: [
    ...listBadServerGroups('resizeServerGroup', prefixes.resize),
    refuseBy(prefixes.resize)({ capacity: null }, 'capacity'),
    refuseBy(prefixes.resize)({ capacity: { desired: -1 } }, 'capacity.desired', 'negative'),
  ],
  outside: formatOutside(prefixes.resize),
  outsideNames: 'namespace',
  calls: { GET: 2, PATCH: 1 },
  history: [
    'Initializing resize of server group kub-test-v000...',
    'Looking up provided namespace...',
    'Setting size to 1...',
    'Resizing replication controller...',
    'Completed resize operation.',
  ],
  secrets: [],
  look: lookAtSpec('replicationcontrollers/kub-test-v000', 'replicas'),
  effect: () => ({ replicas: 1, generation: 2 }),
};

/** A ReplicationController goes, with its autoscaler; the next one of the cluster stays. */
export const destroyServerGroup: KubernetesOperationSpec = {
  world: () => [
    createController('kub-test-v000', { replicas: 0 }),
    createController('kub-test-v001', { replicas: 0 }),
    createAutoscaler('kub-test-v000'),
    createAutoscaler('kub-test-v001'),
  ],
  context: target,
  invalid: listBadServerGroups('destroyServerGroup', prefixes.destroy),
  outside: formatOutside(prefixes.destroy),
  outsideNames: 'namespace',
  calls: { GET: 3, DELETE: 2 },
  history: [
    'Initializing destroy of server group.',
    'Looking up provided namespace...',
    'Destroying autoscaler...',
    'Destroying server group...',
    "Underlying kind is 'ReplicationController'...",
    'Successfully destroyed server group kub-test-v000.',
  ],
  secrets: [],
  look: lookAtNames,
  effect: () => ({
    replicationcontrollers: ['kub-test-v001'],
    replicasets: [],
    deployments: [],
    horizontalpodautoscalers: ['kub-test-v001'],
  }),
};

const badPercentages = (operation: string, prefix: string) => [
  ...listBadServerGroups(operation, prefix),
  refuseBy(prefix)({ desiredPercentage: 101 }, 'desiredPercent', 'invalid (Must be in range [0, 100])'),
];

const switched = (verb: string, gerund: string, percentage: number) => [
  `Initializing ${verb} operation for kub-test-v000...`,
  'Looking up provided namespace...',
  'Finding requisite server group...',
  ...(percentage === 100 || verb === 'enable'
    ? [
        'Getting list of attached services...',
        'Resetting server group service template labels and selectors...',
      ]
    : []),
  'Resetting service labels for each pod...',
  `Operating on ${percentage}% of pods`,
  `Finished ${gerund} server group kub-test-v000.`,
];

/** Two pods that are out of service come into it. */
export const enableServerGroup: KubernetesOperationSpec = {
  world: () => [createController('kub-test-v000', { replicas: 2, loadBalancer: 'false' })],
  context: target,
  invalid: badPercentages('enableServerGroup', prefixes.enable),
  outside: formatOutside(prefixes.enable),
  outsideNames: 'namespace',
  calls: { GET: 5, PATCH: 3 },
  waitsForWrites: true,
  history: switched('enable', 'enabling', 100),
  secrets: [],
  look: lookAtService,
  effect: () => ({ enabled: 'true', template: 'true', pods: ['true', 'true'] }),
};

/** One of two pods goes out of service: new ones still begin in it. */
export const disableServerGroup: KubernetesOperationSpec = {
  world: () => [createController('kub-test-v000', { replicas: 2 })],
  context: (inputs) => ({ ...target(inputs), desiredPercentage: 50 }),
  invalid: badPercentages('disableServerGroup', prefixes.disable),
  outside: formatOutside(prefixes.disable),
  outsideNames: 'namespace',
  calls: { GET: 4, PATCH: 1 },
  history: switched('disable', 'disabling', 50),
  secrets: [],
  look: lookAtService,
  effect: () => ({ enabled: null, template: 'true', pods: ['false', 'true'] }),
};
