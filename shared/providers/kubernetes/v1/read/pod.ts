import type { V1PodSpec, V1Toleration, V1Volume } from '@kubernetes/client-node';
import { asString } from '#core/json.ts';
import { findNumber, readList, type Unchecked } from '../../api/unchecked.ts';
import { toTextMap } from '../../manifest/annotations.ts';
import type { Draft } from '../build/draft.ts';
import type { PodDescription, TolerationDescription, VolumeDescription } from '../descriptions/pod.ts';
import { readContainer } from './container.ts';
import { findFlag, findOneOf } from './values.ts';

/** A pod in the form of V1 descriptions: the input of `buildPodSpec`. */
export function readPodSpec(spec: Unchecked<V1PodSpec>): Draft<PodDescription> {
  return {
    restartPolicy: asString(spec?.restartPolicy),
    dnsPolicy: findOneOf(
      ['ClusterFirst', 'Default', 'ClusterFirstWithHostNet', 'None'] as const,
      spec?.dnsPolicy,
    ),
    terminationGracePeriodSeconds: findNumber(spec?.terminationGracePeriodSeconds),
    serviceAccountName: asString(spec?.serviceAccountName),
    nodeSelector: toTextMap(spec?.nodeSelector),
    volumeSources: readList(spec?.volumes).map(readVolume),
    hostNetwork: findFlag(spec?.hostNetwork),
    containers: readList(spec?.containers).map(readContainer),
    initContainers: readList(spec?.initContainers).map(readContainer),
    tolerations: readList(spec?.tolerations).map(readToleration),
  };
}

function readToleration(toleration: Unchecked<V1Toleration>): Draft<TolerationDescription> {
  return {
    effect: findOneOf(['NoSchedule', 'PreferNoSchedule', 'NoExecute'] as const, toleration?.effect),
    key: asString(toleration?.key),
    operator: findOneOf(['Exists', 'Equal'] as const, toleration?.operator),
    tolerationSeconds: findNumber(toleration?.tolerationSeconds),
    value: asString(toleration?.value),
  };
}

/** A volume of a type that V1 does not know is `UNSUPPORTED`. */
function readVolume(volume: Unchecked<V1Volume>): Draft<VolumeDescription> {
  const name = asString(volume?.name);
  const { hostPath, persistentVolumeClaim: claim, secret, configMap, nfs } = volume ?? {};
  const { awsElasticBlockStore: store, emptyDir } = volume ?? {};
  if (hostPath) return { name, type: 'HOSTPATH', hostPath: { path: asString(hostPath.path) } };
  if (claim) {
    const persistentVolumeClaim = {
      claimName: asString(claim.claimName),
      readOnly: findFlag(claim.readOnly),
    };
    return { name, type: 'PERSISTENTVOLUMECLAIM', persistentVolumeClaim };
  }
  if (secret) return { name, type: 'SECRET', secret: { secretName: asString(secret.secretName) } };
  if (configMap) return { name, type: 'CONFIGMAP', configMap: readConfigMap(configMap) };
  if (nfs) {
    const { server, path, readOnly } = nfs;
    return {
      name,
      type: 'NFS',
      nfs: { server: asString(server), path: asString(path), readOnly: findFlag(readOnly) },
    };
  }
  if (store) {
    const { volumeID, fsType, partition } = store;
    const awsElasticBlockStore = {
      volumeId: asString(volumeID),
      fsType: asString(fsType),
      partition: findNumber(partition),
    };
    return { name, type: 'AWSELASTICBLOCKSTORE', awsElasticBlockStore };
  }
  if (!emptyDir) return { name, type: 'UNSUPPORTED' };
  const medium = emptyDir.medium === 'Memory' ? 'MEMORY' : 'DEFAULT';
  return { name, type: 'EMPTYDIR', emptyDir: { medium } };
}

function readConfigMap(
  source: NonNullable<Unchecked<NonNullable<V1Volume['configMap']>>>,
): Draft<NonNullable<VolumeDescription['configMap']>> {
  return {
    configMapName: asString(source.name),
    items: readList(source.items).map((item) => ({
      key: asString(item?.key),
      path: asString(item?.path),
      defaultMode: findNumber(item?.mode),
    })),
    defaultMode: findNumber(source.defaultMode),
  };
}
