import type { z } from 'zod';
import {
  booleanField,
  enumField,
  intField,
  listOf,
  objectField,
  stringField,
  withDefault,
} from '#settings/coerce.ts';
import { containerField, textMap } from './container.ts';

const text = stringField;

/** Types of volumes that descriptions may name. `UNSUPPORTED` is Spinnaker's name of all others. */
export const volumeTypes = [
  'HOSTPATH',
  'EMPTYDIR',
  'PERSISTENTVOLUMECLAIM',
  'SECRET',
  'CONFIGMAP',
  'AWSELASTICBLOCKSTORE',
  'NFS',
  'UNSUPPORTED',
] as const;

/** A volume of a pod. */
export const volumeField = objectField({
  name: text(),
  type: enumField(volumeTypes),
  hostPath: objectField({ path: text() }),
  emptyDir: objectField({ medium: enumField(['DEFAULT', 'MEMORY']) }),
  persistentVolumeClaim: objectField({ claimName: text(), readOnly: booleanField() }),
  secret: objectField({ secretName: text() }),
  configMap: objectField({
    configMapName: text(),
    items: withDefault(listOf(objectField({ key: text(), path: text(), defaultMode: intField() })), []),
    defaultMode: intField(),
  }),
  awsElasticBlockStore: objectField({ volumeId: text(), fsType: text(), partition: intField() }),
  nfs: objectField({ server: text(), path: text(), readOnly: booleanField() }),
}).meta({ id: 'KubernetesV1Volume' });

/** How a pod resolves names. */
export const dnsPolicyField = enumField(['ClusterFirst', 'Default', 'ClusterFirstWithHostNet', 'None']);

const tolerationField = objectField({
  effect: enumField(['NoSchedule', 'PreferNoSchedule', 'NoExecute']),
  key: text(),
  operator: enumField(['Exists', 'Equal']),
  tolerationSeconds: intField({ max: Number.MAX_SAFE_INTEGER }),
  value: text(),
});

/** What descriptions of server groups and of jobs say of a pod. */
export const podShape = {
  hostNetwork: booleanField().describe('Whether pods use the network of their node.'),
  nodeSelector: textMap.describe('Labels of the nodes that pods run on.'),
  containers: withDefault(listOf(containerField), []).describe('The containers of a pod.'),
  initContainers: withDefault(listOf(containerField), []).describe(
    'Containers that run to their end before.',
  ),
  volumeSources: withDefault(listOf(volumeField), []).describe('The volumes of a pod.'),
  serviceAccountName: text().describe('The service account of pods.'),
  dnsPolicy: dnsPolicyField.describe('How pods look up names.'),
  tolerations: withDefault(listOf(tolerationField), []).describe('Taints of nodes that pods put up with.'),
};

/** A parsed volume. */
export type VolumeDescription = Exclude<z.output<typeof volumeField>, undefined>;
/** A parsed toleration. */
export type TolerationDescription = Exclude<z.output<typeof tolerationField>, undefined>;

/** A parsed pod of any description. */
export type PodDescription = { readonly [key in keyof typeof podShape]: z.output<(typeof podShape)[key]> } & {
  readonly restartPolicy?: string | undefined;
  readonly terminationGracePeriodSeconds?: number | undefined;
};
