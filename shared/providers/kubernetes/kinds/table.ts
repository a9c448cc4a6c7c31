import type { Capability, KindDefinition, SpinnakerKind } from './kind.ts';
import {
  getCronJobStatus,
  getHorizontalPodAutoscalerStatus,
  getJobStatus,
  getPodStatus,
} from './pod-status.ts';
import { deployPriorities as priority, webhookPriority } from './priority.ts';
import { getSettledStatus } from './status.ts';
import {
  getDaemonSetStatus,
  getDeploymentStatus,
  getReplicaSetStatus,
  getStatefulSetStatus,
} from './workload-status.ts';

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

const rows: readonly KindRow[] = [
  { name: 'namespace', aliases: ['ns'], namespaced: false, deployPriority: priority.NAMESPACE_PRIORITY },

  { name: 'role', deployPriority: priority.ROLE_PRIORITY },
  { name: 'clusterRole', namespaced: false, deployPriority: priority.ROLE_PRIORITY },
  { name: 'roleBinding', deployPriority: priority.ROLE_BINDING_PRIORITY },
  { name: 'clusterRoleBinding', namespaced: false, deployPriority: priority.ROLE_BINDING_PRIORITY },
  {
    name: 'customResourceDefinition',
    aliases: ['crd'],
    namespaced: false,
    deployPriority: priority.RESOURCE_DEFINITION_PRIORITY,
  },

  { name: 'serviceAccount', aliases: ['sa'], deployPriority: priority.SERVICE_ACCOUNT_PRIORITY },
  {
    name: 'storageClass',
    aliases: ['sc'],
    namespaced: false,
    deployPriority: priority.STORAGE_CLASS_PRIORITY,
  },
  {
    name: 'persistentVolume',
    aliases: ['pv'],
    namespaced: false,
    deployPriority: priority.MOUNTABLE_DATA_BACKING_RESOURCE_PRIORITY,
    spinnakerKind: 'configs',
  },

  {
    name: 'configMap',
    aliases: ['cm'],
    deployPriority: priority.MOUNTABLE_DATA_PRIORITY,
    spinnakerKind: 'configs',
    versioned: true,
  },
  {
    name: 'secret',
    deployPriority: priority.MOUNTABLE_DATA_PRIORITY,
    spinnakerKind: 'configs',
    versioned: true,
    sensitiveKeys: ['data', 'stringData'],
  },
  {
    name: 'persistentVolumeClaim',
    aliases: ['pvc'],
    deployPriority: priority.MOUNTABLE_DATA_PRIORITY,
    spinnakerKind: 'configs',
  },

  {
    name: 'service',
    aliases: ['svc'],
    deployPriority: priority.NETWORK_RESOURCE_PRIORITY,
    spinnakerKind: 'loadBalancers',
    capabilities: ['loadBalances'],
  },
  { name: 'ingress', deployPriority: priority.NETWORK_RESOURCE_PRIORITY, spinnakerKind: 'loadBalancers' },
  {
    name: 'networkPolicy',
    aliases: ['netpol'],
    deployPriority: priority.NETWORK_RESOURCE_PRIORITY,
    spinnakerKind: 'securityGroups',
  },

  {
    name: 'apiService',
    kubernetesKind: 'APIService',
    namespaced: false,
    deployPriority: priority.API_SERVICE_PRIORITY,
  },
  { name: 'limitRange', deployPriority: priority.WORKLOAD_MODIFIER_PRIORITY },
  { name: 'podPreset', deployPriority: priority.WORKLOAD_MODIFIER_PRIORITY },
  { name: 'podSecurityPolicy', namespaced: false, deployPriority: priority.WORKLOAD_MODIFIER_PRIORITY },
  { name: 'podDisruptionBudget', deployPriority: priority.PDB_PRIORITY },

  {
    name: 'deployment',
    aliases: ['deploy'],
    deployPriority: priority.WORKLOAD_CONTROLLER_PRIORITY,
    spinnakerKind: 'serverGroupManagers',
    capabilities: ['scale', 'resize', 'traffic', ...rollout],
    replacers: 'podTemplate',
    getStatus: getDeploymentStatus,
  },
  {
    name: 'replicaSet',
    aliases: ['rs'],
    deployPriority: priority.WORKLOAD_CONTROLLER_PRIORITY,
    spinnakerKind: 'serverGroups',
    versioned: true,
    capabilities: ['scale', 'resize', 'traffic', 'pods'],
    replacers: 'podTemplate',
    getStatus: getReplicaSetStatus,
  },
  {
    name: 'statefulSet',
    deployPriority: priority.WORKLOAD_CONTROLLER_PRIORITY,
    spinnakerKind: 'serverGroups',
    capabilities: ['scale', 'resize', 'traffic', ...rollout],
    replacers: 'podTemplate',
    getStatus: getStatefulSetStatus,
  },
  {
    name: 'daemonSet',
    aliases: ['ds'],
    deployPriority: priority.WORKLOAD_CONTROLLER_PRIORITY,
    spinnakerKind: 'serverGroups',
    capabilities: ['resize', 'traffic', ...rollout],
    replacers: 'podTemplate',
    getStatus: getDaemonSetStatus,
  },
  {
    name: 'job',
    deployPriority: priority.WORKLOAD_PRIORITY,
    spinnakerKind: 'serverGroups',
    capabilities: ['traffic'],
    replacers: 'podTemplate',
    getStatus: getJobStatus,
  },
  {
    name: 'cronJob',
    deployPriority: priority.WORKLOAD_PRIORITY,
    spinnakerKind: 'serverGroups',
    capabilities: ['traffic'],
    replacers: 'podTemplate',
    getStatus: getCronJobStatus,
  },
  {
    name: 'pod',
    aliases: ['po'],
    deployPriority: priority.WORKLOAD_PRIORITY,
    spinnakerKind: 'instances',
    versioned: true,
    capabilities: ['traffic'],
    replacers: 'pod',
    getStatus: getPodStatus,
  },
  {
    // Spinnaker writes this one in lower case throughout.
    name: 'horizontalpodautoscaler',
    aliases: ['hpa'],
    kubernetesKind: 'HorizontalPodAutoscaler',
    deployPriority: priority.WORKLOAD_ATTACHMENT_PRIORITY,
    replacers: 'scaleTarget',
    getStatus: getHorizontalPodAutoscalerStatus,
  },

  { name: 'mutatingWebhookConfiguration', namespaced: false, deployPriority: webhookPriority },
  { name: 'validatingWebhookConfiguration', namespaced: false, deployPriority: webhookPriority },

  { name: 'controllerRevision', deployPriority: priority.LOWEST_PRIORITY, deployable: false },
  { name: 'event', deployPriority: priority.LOWEST_PRIORITY, deployable: false },
];

/** The kinds that Spinnaker has built in. A kind without special behaviour is one row above. */
export const builtInKinds: readonly KindDefinition[] = rows.map(defineKind);

/** `ReplicaSet` for `replicaSet`. */
function capitalize(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}
