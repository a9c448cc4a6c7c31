import type { Capability, KindDefinition, SpinnakerKind } from './kind.ts';
import {
  getCronJobStatus,
  getDaemonSetStatus,
  getDeploymentStatus,
  getHorizontalPodAutoscalerStatus,
  getJobStatus,
  getPodStatus,
  getReplicaSetStatus,
  getStatefulSetStatus,
} from './kind-status.ts';
import { deployPriorities as priority, webhookPriority } from './priority.ts';
import { getSettledStatus } from './status.ts';

/** A definition as written in the table: omitted members have the defaults of an ordinary kind. */
export interface KindRow extends Partial<Omit<KindDefinition, 'capabilities'>> {
  readonly name: string;
  readonly deployPriority: number;
  readonly capabilities?: readonly Capability[];
}

/**
 * Completes a row: namespaced, deployable, unclassified, unversioned, without capabilities or references to
 * artifacts, and always settled.
 */
export function defineKind(row: KindRow): KindDefinition {
  return {
    aliases: [],
    kubernetesKind: capitalize(row.name),
    known: true,
    namespaced: true,
    deployable: true,
    spinnakerKind: 'unclassified' satisfies SpinnakerKind,
    versioned: false,
    sensitiveKeys: [],
    replacers: 'none',
    getStatus: getSettledStatus,
    ...row,
    capabilities: new Set(row.capabilities),
  };
}

const rollout = ['pauseRollout', 'resumeRollout', 'undoRollout', 'rollingRestart'] as const;

type KindGroup = readonly [deployPriority: number, kinds: readonly Omit<KindRow, 'deployPriority'>[]];

/** The rows by their deploy priority, in its order but for the last two. */
const groups: readonly KindGroup[] = [
  [priority.NAMESPACE_PRIORITY, [{ name: 'namespace', aliases: ['ns'], namespaced: false }]],
  [priority.ROLE_PRIORITY, [{ name: 'role' }, { name: 'clusterRole', namespaced: false }]],
  [
    priority.ROLE_BINDING_PRIORITY,
    [{ name: 'roleBinding' }, { name: 'clusterRoleBinding', namespaced: false }],
  ],
  [
    priority.RESOURCE_DEFINITION_PRIORITY,
    [{ name: 'customResourceDefinition', aliases: ['crd'], namespaced: false }],
  ],
  [priority.SERVICE_ACCOUNT_PRIORITY, [{ name: 'serviceAccount', aliases: ['sa'] }]],
  [priority.STORAGE_CLASS_PRIORITY, [{ name: 'storageClass', aliases: ['sc'], namespaced: false }]],
  [
    priority.MOUNTABLE_DATA_BACKING_RESOURCE_PRIORITY,
    [{ name: 'persistentVolume', aliases: ['pv'], namespaced: false, spinnakerKind: 'configs' }],
  ],
  [
    priority.MOUNTABLE_DATA_PRIORITY,
    [
      { name: 'configMap', aliases: ['cm'], spinnakerKind: 'configs', versioned: true },
      { name: 'secret', spinnakerKind: 'configs', versioned: true, sensitiveKeys: ['data', 'stringData'] },
      { name: 'persistentVolumeClaim', aliases: ['pvc'], spinnakerKind: 'configs' },
    ],
  ],
  [
    priority.NETWORK_RESOURCE_PRIORITY,
    [
      { name: 'service', aliases: ['svc'], spinnakerKind: 'loadBalancers', capabilities: ['loadBalances'] },
      { name: 'ingress', spinnakerKind: 'loadBalancers' },
      { name: 'networkPolicy', aliases: ['netpol'], spinnakerKind: 'securityGroups' },
    ],
  ],
  [priority.API_SERVICE_PRIORITY, [{ name: 'apiService', kubernetesKind: 'APIService', namespaced: false }]],
  [
    priority.WORKLOAD_MODIFIER_PRIORITY,
    [{ name: 'limitRange' }, { name: 'podPreset' }, { name: 'podSecurityPolicy', namespaced: false }],
  ],
  [priority.PDB_PRIORITY, [{ name: 'podDisruptionBudget' }]],
  [
    priority.WORKLOAD_CONTROLLER_PRIORITY,
    [
      {
        name: 'deployment',
        aliases: ['deploy'],
        spinnakerKind: 'serverGroupManagers',
        capabilities: ['scale', 'resize', 'traffic', ...rollout],
        replacers: 'podTemplate',
        getStatus: getDeploymentStatus,
      },
      {
        name: 'replicaSet',
        aliases: ['rs'],
        spinnakerKind: 'serverGroups',
        versioned: true,
        capabilities: ['scale', 'resize', 'traffic', 'pods'],
        replacers: 'podTemplate',
        getStatus: getReplicaSetStatus,
      },
      {
        name: 'statefulSet',
        spinnakerKind: 'serverGroups',
        capabilities: ['scale', 'resize', 'traffic', ...rollout],
        replacers: 'podTemplate',
        getStatus: getStatefulSetStatus,
      },
      {
        name: 'daemonSet',
        aliases: ['ds'],
        spinnakerKind: 'serverGroups',
        capabilities: ['resize', 'traffic', ...rollout],
        replacers: 'podTemplate',
        getStatus: getDaemonSetStatus,
      },
    ],
  ],
  [
    priority.WORKLOAD_PRIORITY,
    [
      {
        name: 'job',
        spinnakerKind: 'serverGroups',
        capabilities: ['traffic'],
        replacers: 'podTemplate',
        getStatus: getJobStatus,
      },
      {
        name: 'cronJob',
        spinnakerKind: 'serverGroups',
        capabilities: ['traffic'],
        replacers: 'podTemplate',
        getStatus: getCronJobStatus,
      },
      {
        name: 'pod',
        aliases: ['po'],
        spinnakerKind: 'instances',
        versioned: true,
        capabilities: ['traffic'],
        replacers: 'pod',
        getStatus: getPodStatus,
      },
    ],
  ],
  [
    priority.WORKLOAD_ATTACHMENT_PRIORITY,
    [
      {
        // Spinnaker writes this one in lower case throughout.
        name: 'horizontalpodautoscaler',
        aliases: ['hpa'],
        kubernetesKind: 'HorizontalPodAutoscaler',
        replacers: 'scaleTarget',
        getStatus: getHorizontalPodAutoscalerStatus,
      },
    ],
  ],
  [
    webhookPriority,
    [
      { name: 'mutatingWebhookConfiguration', namespaced: false },
      { name: 'validatingWebhookConfiguration', namespaced: false },
    ],
  ],
  [
    priority.LOWEST_PRIORITY,
    [
      { name: 'controllerRevision', deployable: false },
      { name: 'event', deployable: false },
    ],
  ],
];

/** The kinds that Spinnaker has built in. A kind without special behaviour is one row above. */
export const builtInKinds: readonly KindDefinition[] = groups.flatMap(([deployPriority, kinds]) =>
  kinds.map((kind) => defineKind({ ...kind, deployPriority })),
);

/** `ReplicaSet` for `replicaSet`. */
function capitalize(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}
