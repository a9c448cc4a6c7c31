import {
  type AttributeRules,
  nameRule,
  pathRule,
  relativePathRule,
  secretNameRule,
} from './attribute-rules.ts';
import type { VolumeDescription } from './pod.ts';

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
