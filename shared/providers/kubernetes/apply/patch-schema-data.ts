// Generated from the OpenAPI v3 documents of Kubernetes v1.36.3; see patch-schema.test.ts.

/** Kinds that accept strategic merge patches, separated by spaces: by apiVersion, and by their type in {@link patchTypes}. */
export const patchKinds = {
  'admissionregistration.k8s.io/v1': {
    'admissionregistration.v1.MutatingAdmissionPolicy': 'MutatingAdmissionPolicy',
    'admissionregistration.v1.MutatingWebhookConfiguration':
      'MutatingWebhookConfiguration ValidatingWebhookConfiguration',
    'admissionregistration.v1.ValidatingAdmissionPolicy': 'ValidatingAdmissionPolicy',
    'meta.v1.PartialObjectMetadata': 'MutatingAdmissionPolicyBinding ValidatingAdmissionPolicyBinding',
  },
  'admissionregistration.k8s.io/v1alpha1': {
    'admissionregistration.v1.MutatingAdmissionPolicy': 'MutatingAdmissionPolicy',
    'meta.v1.PartialObjectMetadata': 'MutatingAdmissionPolicyBinding',
  },
  'admissionregistration.k8s.io/v1beta1': {
    'admissionregistration.v1.MutatingAdmissionPolicy': 'MutatingAdmissionPolicy',
    'meta.v1.PartialObjectMetadata': 'MutatingAdmissionPolicyBinding',
  },
  'apiextensions.k8s.io/v1': { 'meta.v1.PartialObjectMetadata': 'CustomResourceDefinition' },
  'apiregistration.k8s.io/v1': { 'apiregistration.v1.APIService': 'APIService' },
  'apps/v1': {
    'apps.v1.DaemonSet': 'DaemonSet ReplicaSet StatefulSet',
    'apps.v1.Deployment': 'Deployment',
    'meta.v1.PartialObjectMetadata': 'ControllerRevision',
  },
  'autoscaling/v1': { 'meta.v1.PartialObjectMetadata': 'HorizontalPodAutoscaler' },
  'autoscaling/v2': { 'apiregistration.v1.APIService': 'HorizontalPodAutoscaler' },
  'batch/v1': { 'apps.v1.DaemonSet': 'Job', 'batch.v1.CronJob': 'CronJob' },
  'certificates.k8s.io/v1': { 'meta.v1.PartialObjectMetadata': 'CertificateSigningRequest' },
  'coordination.k8s.io/v1': { 'meta.v1.PartialObjectMetadata': 'Lease' },
  'coordination.k8s.io/v1alpha2': { 'meta.v1.PartialObjectMetadata': 'LeaseCandidate' },
  'coordination.k8s.io/v1beta1': { 'meta.v1.PartialObjectMetadata': 'LeaseCandidate' },
  'discovery.k8s.io/v1': { 'meta.v1.PartialObjectMetadata': 'EndpointSlice' },
  'events.k8s.io/v1': { 'meta.v1.PartialObjectMetadata': 'Event' },
  'flowcontrol.apiserver.k8s.io/v1': {
    'apiregistration.v1.APIService': 'FlowSchema PriorityLevelConfiguration',
  },
  'internal.apiserver.k8s.io/v1alpha1': { 'meta.v1.PartialObjectMetadata': 'StorageVersion' },
  'networking.k8s.io/v1': {
    'apiregistration.v1.APIService': 'ServiceCIDR',
    'meta.v1.PartialObjectMetadata': 'IPAddress Ingress IngressClass NetworkPolicy',
  },
  'networking.k8s.io/v1beta1': {
    'apiregistration.v1.APIService': 'ServiceCIDR',
    'meta.v1.PartialObjectMetadata': 'IPAddress',
  },
  'node.k8s.io/v1': { 'meta.v1.PartialObjectMetadata': 'RuntimeClass' },
  'policy/v1': { 'policy.v1.PodDisruptionBudget': 'PodDisruptionBudget' },
  'rbac.authorization.k8s.io/v1': {
    'meta.v1.PartialObjectMetadata': 'ClusterRole ClusterRoleBinding Role RoleBinding',
  },
  'resource.k8s.io/v1': {
    'meta.v1.PartialObjectMetadata': 'DeviceClass ResourceSlice',
    'resource.v1.ResourceClaim': 'ResourceClaim',
    'resource.v1.ResourceClaimTemplate': 'ResourceClaimTemplate',
  },
  'resource.k8s.io/v1alpha3': {
    'apiregistration.v1.APIService': 'DeviceTaintRule ResourcePoolStatusRequest',
  },
  'resource.k8s.io/v1beta1': {
    'meta.v1.PartialObjectMetadata': 'DeviceClass ResourceSlice',
    'resource.v1.ResourceClaim': 'ResourceClaim',
    'resource.v1.ResourceClaimTemplate': 'ResourceClaimTemplate',
  },
  'resource.k8s.io/v1beta2': {
    'apiregistration.v1.APIService': 'DeviceTaintRule',
    'meta.v1.PartialObjectMetadata': 'DeviceClass ResourceSlice',
    'resource.v1.ResourceClaim': 'ResourceClaim',
    'resource.v1.ResourceClaimTemplate': 'ResourceClaimTemplate',
  },
  'scheduling.k8s.io/v1': { 'meta.v1.PartialObjectMetadata': 'PriorityClass' },
  'storage.k8s.io/v1': {
    'meta.v1.PartialObjectMetadata':
      'CSIDriver CSIStorageCapacity StorageClass VolumeAttachment VolumeAttributesClass',
    'storage.v1.CSINode': 'CSINode',
  },
  'storage.k8s.io/v1beta1': { 'meta.v1.PartialObjectMetadata': 'VolumeAttributesClass' },
  v1: {
    'apiregistration.v1.APIService': 'Namespace PersistentVolumeClaim',
    'apps.v1.DaemonSet': 'ReplicationController',
    'core.v1.Node': 'Node',
    'core.v1.Pod': 'Pod',
    'core.v1.PodTemplate': 'PodTemplate',
    'core.v1.Service': 'Service',
    'core.v1.ServiceAccount': 'ServiceAccount',
    'meta.v1.PartialObjectMetadata':
      'ConfigMap Endpoints Event LimitRange PersistentVolume ResourceQuota Secret',
  },
} as const;

/**
 * Fields with patch rules, by type. Types and fields that lead to no rule are left out, and of types with the same rules only the first by
 * name is here.
 */
export const patchTypes = {
  'admissionregistration.v1.MutatingAdmissionPolicy': {
    metadata: { type: 'meta.v1.ObjectMeta' },
    spec: { type: 'admissionregistration.v1.MutatingAdmissionPolicySpec' },
  },
  'admissionregistration.v1.MutatingAdmissionPolicySpec': {
    matchConditions: { strategy: 'merge', mergeKey: 'name' },
  },
  'admissionregistration.v1.MutatingWebhookConfiguration': {
    metadata: { type: 'meta.v1.ObjectMeta' },
    webhooks: {
      strategy: 'merge',
      mergeKey: 'name',
      type: 'admissionregistration.v1.MutatingAdmissionPolicySpec',
    },
  },
  'admissionregistration.v1.ValidatingAdmissionPolicy': {
    metadata: { type: 'meta.v1.ObjectMeta' },
    spec: { type: 'admissionregistration.v1.ValidatingAdmissionPolicySpec' },
  },
  'admissionregistration.v1.ValidatingAdmissionPolicySpec': {
    matchConditions: { strategy: 'merge', mergeKey: 'name' },
    variables: { strategy: 'merge', mergeKey: 'name' },
  },
  'apiregistration.v1.APIService': {
    metadata: { type: 'meta.v1.ObjectMeta' },
    status: { type: 'apiregistration.v1.APIServiceStatus' },
  },
  'apiregistration.v1.APIServiceStatus': { conditions: { strategy: 'merge', mergeKey: 'type' } },
  'apps.v1.DaemonSet': {
    metadata: { type: 'meta.v1.ObjectMeta' },
    spec: { type: 'apps.v1.DaemonSetSpec' },
    status: { type: 'apiregistration.v1.APIServiceStatus' },
  },
  'apps.v1.DaemonSetSpec': { template: { type: 'core.v1.PodTemplateSpec' } },
  'apps.v1.Deployment': {
    metadata: { type: 'meta.v1.ObjectMeta' },
    spec: { type: 'apps.v1.DeploymentSpec' },
    status: { type: 'apiregistration.v1.APIServiceStatus' },
  },
  'apps.v1.DeploymentSpec': { strategy: { retainKeys: true }, template: { type: 'core.v1.PodTemplateSpec' } },
  'batch.v1.CronJob': { metadata: { type: 'meta.v1.ObjectMeta' }, spec: { type: 'batch.v1.CronJobSpec' } },
  'batch.v1.CronJobSpec': { jobTemplate: { type: 'batch.v1.JobTemplateSpec' } },
  'batch.v1.JobTemplateSpec': {
    metadata: { type: 'meta.v1.ObjectMeta' },
    spec: { type: 'apps.v1.DaemonSetSpec' },
  },
  'core.v1.Container': {
    env: { strategy: 'merge', mergeKey: 'name' },
    ports: { strategy: 'merge', mergeKey: 'containerPort' },
    volumeDevices: { strategy: 'merge', mergeKey: 'devicePath' },
    volumeMounts: { strategy: 'merge', mergeKey: 'mountPath' },
  },
  'core.v1.EphemeralVolumeSource': { volumeClaimTemplate: { type: 'meta.v1.PartialObjectMetadata' } },
  'core.v1.Node': {
    metadata: { type: 'meta.v1.ObjectMeta' },
    spec: { type: 'core.v1.NodeSpec' },
    status: { type: 'core.v1.NodeStatus' },
  },
  'core.v1.NodeSpec': { podCIDRs: { strategy: 'merge' } },
  'core.v1.NodeStatus': {
    addresses: { strategy: 'merge', mergeKey: 'type' },
    conditions: { strategy: 'merge', mergeKey: 'type' },
  },
  'core.v1.Pod': {
    metadata: { type: 'meta.v1.ObjectMeta' },
    spec: { type: 'core.v1.PodSpec' },
    status: { type: 'core.v1.PodStatus' },
  },
  'core.v1.PodSpec': {
    containers: { strategy: 'merge', mergeKey: 'name', type: 'core.v1.Container' },
    ephemeralContainers: { strategy: 'merge', mergeKey: 'name', type: 'core.v1.Container' },
    hostAliases: { strategy: 'merge', mergeKey: 'ip' },
    imagePullSecrets: { strategy: 'merge', mergeKey: 'name' },
    initContainers: { strategy: 'merge', mergeKey: 'name', type: 'core.v1.Container' },
    resourceClaims: { strategy: 'merge', mergeKey: 'name', retainKeys: true },
    schedulingGates: { strategy: 'merge', mergeKey: 'name' },
    topologySpreadConstraints: { strategy: 'merge', mergeKey: 'topologyKey' },
    volumes: { strategy: 'merge', mergeKey: 'name', retainKeys: true, type: 'core.v1.Volume' },
  },
  'core.v1.PodStatus': {
    conditions: { strategy: 'merge', mergeKey: 'type' },
    hostIPs: { strategy: 'merge', mergeKey: 'ip' },
    podIPs: { strategy: 'merge', mergeKey: 'ip' },
    resourceClaimStatuses: { strategy: 'merge', mergeKey: 'name', retainKeys: true },
  },
  'core.v1.PodTemplate': {
    metadata: { type: 'meta.v1.ObjectMeta' },
    template: { type: 'core.v1.PodTemplateSpec' },
  },
  'core.v1.PodTemplateSpec': { metadata: { type: 'meta.v1.ObjectMeta' }, spec: { type: 'core.v1.PodSpec' } },
  'core.v1.Service': {
    metadata: { type: 'meta.v1.ObjectMeta' },
    spec: { type: 'core.v1.ServiceSpec' },
    status: { type: 'apiregistration.v1.APIServiceStatus' },
  },
  'core.v1.ServiceAccount': {
    metadata: { type: 'meta.v1.ObjectMeta' },
    secrets: { strategy: 'merge', mergeKey: 'name' },
  },
  'core.v1.ServiceSpec': { ports: { strategy: 'merge', mergeKey: 'port' } },
  'core.v1.Volume': { ephemeral: { type: 'core.v1.EphemeralVolumeSource' } },
  'meta.v1.ObjectMeta': {
    finalizers: { strategy: 'merge' },
    ownerReferences: { strategy: 'merge', mergeKey: 'uid' },
  },
  'meta.v1.PartialObjectMetadata': { metadata: { type: 'meta.v1.ObjectMeta' } },
  'policy.v1.PodDisruptionBudget': {
    metadata: { type: 'meta.v1.ObjectMeta' },
    spec: { type: 'policy.v1.PodDisruptionBudgetSpec' },
    status: { type: 'apiregistration.v1.APIServiceStatus' },
  },
  'policy.v1.PodDisruptionBudgetSpec': { selector: { strategy: 'replace' } },
  'resource.v1.ResourceClaim': {
    metadata: { type: 'meta.v1.ObjectMeta' },
    status: { type: 'resource.v1.ResourceClaimStatus' },
  },
  'resource.v1.ResourceClaimStatus': { reservedFor: { strategy: 'merge', mergeKey: 'uid' } },
  'resource.v1.ResourceClaimTemplate': {
    metadata: { type: 'meta.v1.ObjectMeta' },
    spec: { type: 'meta.v1.PartialObjectMetadata' },
  },
  'storage.v1.CSINode': {
    metadata: { type: 'meta.v1.ObjectMeta' },
    spec: { type: 'storage.v1.CSINodeSpec' },
  },
  'storage.v1.CSINodeSpec': { drivers: { strategy: 'merge', mergeKey: 'name' } },
} as const;
