import type { V1PodSpec, V1Volume } from '@kubernetes/client-node';
import type { PodDescription, VolumeDescription } from '../descriptions/pod.ts';
import { buildContainer } from './container.ts';
import { type Draft, findItems, findMembers } from './draft.ts';

/** The account's additions to each pod. */
export interface PodOptions {
  /** Names of the pull secrets of its namespace. */
  readonly pullSecrets: readonly string[];
  /** The registry of images that name none. */
  readonly defaultRegistry: string;
}

/** The specification of a pod. @throws FailedOperationError when an image has no repository. */
export function buildPodSpec(description: PodDescription, options: PodOptions): Draft<V1PodSpec> {
  const { pullSecrets, defaultRegistry } = options;
  return {
    restartPolicy: description.restartPolicy || undefined,
    dnsPolicy: description.dnsPolicy,
    terminationGracePeriodSeconds: description.terminationGracePeriodSeconds || undefined,
    imagePullSecrets: findItems(pullSecrets.map((name) => ({ name }))),
    serviceAccountName: description.serviceAccountName || undefined,
    nodeSelector: findMembers(description.nodeSelector),
    volumes: findItems(description.volumeSources.map(buildVolume)),
    hostNetwork: description.hostNetwork,
    containers: description.containers.map((each) => buildContainer(each, defaultRegistry)),
    initContainers: findItems(
      description.initContainers.map((each) => buildContainer(each, defaultRegistry)),
    ),
    tolerations: findItems(
      description.tolerations.map((toleration) => ({
        ...toleration,
        key: toleration.key || undefined,
        value: toleration.value || undefined,
      })),
    ),
  };
}

function buildVolume(volume: VolumeDescription): Draft<V1Volume> {
  const { name, type, hostPath, emptyDir, persistentVolumeClaim, secret, nfs } = volume;
  switch (type) {
    case 'HOSTPATH':
      return { name, hostPath };
    case 'PERSISTENTVOLUMECLAIM':
      return { name, persistentVolumeClaim };
    case 'SECRET':
      return { name, secret };
    case 'CONFIGMAP':
      return { name, configMap: buildConfigMap(volume) };
    case 'AWSELASTICBLOCKSTORE': {
      const { volumeId, fsType, partition } = volume.awsElasticBlockStore ?? {};
      return {
        name,
        awsElasticBlockStore: {
          volumeID: volumeId,
          fsType: fsType || undefined,
          partition: partition || undefined,
        },
      };
    }
    case 'NFS':
      return { name, nfs };
    default:
      return { name, emptyDir: { medium: emptyDir?.medium === 'MEMORY' ? 'Memory' : undefined } };
  }
}

function buildConfigMap({ configMap }: VolumeDescription): Draft<NonNullable<V1Volume['configMap']>> {
  const { configMapName, items = [], defaultMode } = configMap ?? {};
  return {
    name: configMapName,
    items: findItems(items.map(({ key, path, defaultMode: mode }) => ({ key, path, mode }))),
    defaultMode,
  };
}
