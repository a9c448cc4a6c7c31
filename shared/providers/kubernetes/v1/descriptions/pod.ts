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
import {
  type AttributeRules,
  nameRule,
  pathRule,
  relativePathRule,
  secretNameRule,
} from './attribute-rules.ts';
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

/** Reports what is wrong with a volume. @param at its path: `volumeSources[0]` */
export function checkVolume(volume: VolumeDescription, at: string, rules: AttributeRules): void {
  rules.requireText(volume.name, `${at}.name`, nameRule);
  switch (volume.type) {
    case 'EMPTYDIR':
      if (volume.emptyDir === undefined) rules.reject(`${at}.emptyDir`, 'empty');
      return;
    case 'HOSTPATH':
      rules.requireText(volume.hostPath?.path, `${at}.hostPath.path`, pathRule);
      return;
    case 'PERSISTENTVOLUMECLAIM': {
      const { claimName } = volume.persistentVolumeClaim ?? {};
      rules.requireText(claimName, `${at}.persistentVolumeClaim.claimName`, secretNameRule);
      return;
    }
    case 'SECRET':
      rules.requireText(volume.secret?.secretName, `${at}.secret.secretName`, secretNameRule);
      return;
    case 'CONFIGMAP':
      checkConfigMap(volume, `${at}.configMap`, rules);
      return;
    case 'AWSELASTICBLOCKSTORE':
      rules.checkPresent(volume.awsElasticBlockStore?.volumeId, `${at}.awsElasticBlockStore.volumeId`);
      return;
    case 'NFS':
      rules.checkPresent(volume.nfs?.server, `${at}.nfs.server`);
      rules.requireText(volume.nfs?.path, `${at}.nfs.path`, pathRule);
      return;
    case undefined:
      rules.reject(`${at}.type`, 'empty');
      return;
    default:
      rules.reject(`${at}.type`, `invalid (${volume.type} not supported)`);
  }
}

function checkConfigMap({ configMap }: VolumeDescription, at: string, rules: AttributeRules): void {
  rules.requireText(configMap?.configMapName, `${at}.configMapName`, secretNameRule);
  rules.checkEach(configMap?.items ?? [], `${at}.items`, ({ key, path }, place) => {
    rules.requireText(path, `${place}.path`, relativePathRule);
    rules.requireText(key, `${place}.key`, configMapKeyRule);
  });
}

/** Keys of config maps may hold capitals and underscores, which Spinnaker's rule does not allow. */
const configMapKeyRule = { pattern: /^[-._a-zA-Z0-9]+$/, shown: '^[-._a-zA-Z0-9]+$' };
