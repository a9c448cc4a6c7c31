import type { ApiResource } from './client.ts';

/** Versions of a built-in API group, and their kinds by scope; each separated by spaces. */
type BuiltInVersions = readonly [
  group: string,
  versions: string,
  namespacedKinds: string,
  clusterKinds: string,
];

/**
 * Every kind that Kubernetes itself serves, from 1.24 to 1.36, including alpha versions. Versions of a group are in order of preference. A
 * server too old or too new for a row answers 404 by itself.
 *
 * Taken from the discovery documents of a 1.36 API server with all versions on, and, for versions gone since, from Kubernetes' deprecation
 * guide.
 */
const builtInVersions: readonly BuiltInVersions[] = [
  [
    '',
    'v1',
    'Binding ConfigMap Endpoints Event LimitRange PersistentVolumeClaim Pod PodTemplate ReplicationController ResourceQuota Secret Service ServiceAccount',
    'ComponentStatus Namespace Node PersistentVolume',
  ],
  ['apps', 'v1', 'ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet', ''],
  ['batch', 'v1', 'CronJob Job', ''],
  ['batch', 'v1beta1', 'CronJob', ''],
  ['networking.k8s.io', 'v1', 'Ingress NetworkPolicy', 'IPAddress IngressClass ServiceCIDR'],
  ['networking.k8s.io', 'v1beta1', '', 'IPAddress ServiceCIDR'],
  ['networking.k8s.io', 'v1alpha1', '', 'ClusterCIDR IPAddress ServiceCIDR'],
  ['autoscaling', 'v2 v1 v2beta2 v2beta1', 'HorizontalPodAutoscaler', ''],
  ['policy', 'v1', 'PodDisruptionBudget', ''],
  ['policy', 'v1beta1', 'PodDisruptionBudget', 'PodSecurityPolicy'],
  ['rbac.authorization.k8s.io', 'v1', 'Role RoleBinding', 'ClusterRole ClusterRoleBinding'],
  [
    'storage.k8s.io',
    'v1',
    'CSIStorageCapacity',
    'CSIDriver CSINode StorageClass VolumeAttachment VolumeAttributesClass',
  ],
  ['storage.k8s.io', 'v1beta1', 'CSIStorageCapacity', 'VolumeAttributesClass'],
  ['storage.k8s.io', 'v1alpha1', '', 'VolumeAttributesClass'],
  ['apiextensions.k8s.io', 'v1', '', 'CustomResourceDefinition'],
  ['apiregistration.k8s.io', 'v1', '', 'APIService'],
  [
    'admissionregistration.k8s.io',
    'v1',
    '',
    'MutatingAdmissionPolicy MutatingAdmissionPolicyBinding MutatingWebhookConfiguration ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration',
  ],
  [
    'admissionregistration.k8s.io',
    'v1beta1 v1alpha1',
    '',
    'MutatingAdmissionPolicy MutatingAdmissionPolicyBinding ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding',
  ],
  ['scheduling.k8s.io', 'v1', '', 'PriorityClass'],
  ['scheduling.k8s.io', 'v1alpha2', 'PodGroup Workload', ''],
  ['scheduling.k8s.io', 'v1alpha1', 'Workload', ''],
  [
    'authorization.k8s.io',
    'v1',
    'LocalSubjectAccessReview',
    'SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview',
  ],
  ['authentication.k8s.io', 'v1', '', 'SelfSubjectReview TokenReview'],
  ['authentication.k8s.io', 'v1beta1 v1alpha1', '', 'SelfSubjectReview'],
  ['certificates.k8s.io', 'v1', '', 'CertificateSigningRequest'],
  ['certificates.k8s.io', 'v1beta1 v1alpha1', 'PodCertificateRequest', 'ClusterTrustBundle'],
  ['coordination.k8s.io', 'v1', 'Lease', ''],
  ['coordination.k8s.io', 'v1beta1 v1alpha2 v1alpha1', 'LeaseCandidate', ''],
  ['discovery.k8s.io', 'v1 v1beta1', 'EndpointSlice', ''],
  ['events.k8s.io', 'v1 v1beta1', 'Event', ''],
  ['flowcontrol.apiserver.k8s.io', 'v1 v1beta3 v1beta2 v1beta1', '', 'FlowSchema PriorityLevelConfiguration'],
  ['internal.apiserver.k8s.io', 'v1alpha1', '', 'StorageVersion'],
  ['node.k8s.io', 'v1 v1beta1', '', 'RuntimeClass'],
  ['resource.k8s.io', 'v1', 'ResourceClaim ResourceClaimTemplate', 'DeviceClass ResourceSlice'],
  [
    'resource.k8s.io',
    'v1beta2',
    'ResourceClaim ResourceClaimTemplate',
    'DeviceClass DeviceTaintRule ResourceSlice',
  ],
  ['resource.k8s.io', 'v1beta1', 'ResourceClaim ResourceClaimTemplate', 'DeviceClass ResourceSlice'],
  [
    'resource.k8s.io',
    'v1alpha3',
    'PodSchedulingContext ResourceClaim ResourceClaimTemplate',
    'DeviceClass DeviceTaintRule ResourcePoolStatusRequest ResourceSlice',
  ],
  [
    'resource.k8s.io',
    'v1alpha2',
    'PodSchedulingContext ResourceClaim ResourceClaimParameters ResourceClaimTemplate ResourceClassParameters',
    'ResourceClass ResourceSlice',
  ],
  ['resource.k8s.io', 'v1alpha1', 'PodScheduling ResourceClaim ResourceClaimTemplate', 'ResourceClass'],
  ['storagemigration.k8s.io', 'v1beta1 v1alpha1', '', 'StorageVersionMigration'],
];

/** The built-in resources, in the table's order: preferred versions first. */
export const builtInResources: readonly ApiResource[] = builtInVersions.flatMap(
  ([group, versions, namespacedKinds, clusterKinds]) =>
    versions.split(' ').flatMap((version) => {
      const apiVersion = group === '' ? version : `${group}/${version}`;
      return [
        ...expandKinds(apiVersion, namespacedKinds, true),
        ...expandKinds(apiVersion, clusterKinds, false),
      ];
    }),
);

function expandKinds(apiVersion: string, kinds: string, namespaced: boolean): ApiResource[] {
  return kinds
    .split(' ')
    .filter((kind) => kind !== '')
    .map((kind) => ({ apiVersion, kind, plural: pluralize(kind), namespaced, builtIn: true }));
}

/** Kubernetes' rule for the plural of a kind; every built-in kind follows it. */
function pluralize(kind: string): string {
  const singular = kind.toLowerCase();
  if (singular === 'endpoints') return singular;
  if (singular.endsWith('s')) return `${singular}es`;
  if (singular.endsWith('y')) return `${singular.slice(0, -1)}ies`;
  return `${singular}s`;
}

/** A kind that Kubernetes itself serves. @throws Error for any other */
export function getBuiltInResource(apiVersion: string, kind: string): ApiResource {
  const found = builtInResources.find((each) => each.apiVersion === apiVersion && each.kind === kind);
  if (found === undefined) throw new Error(`${apiVersion} ${kind} is no kind of Kubernetes' own`);
  return found;
}
