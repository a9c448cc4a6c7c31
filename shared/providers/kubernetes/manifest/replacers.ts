import type { V2HorizontalPodAutoscaler } from '@kubernetes/client-node';
import type { JsonObject, JsonValue } from '#core/json.ts';
import { isJsonObject } from '#core/json.ts';
import type { Manifest } from '../api/manifest.ts';
import { asUnchecked } from '../api/unchecked.ts';
import type { ReplacerSet } from '../kinds/kind.ts';
import { changeStrings, changeTemplateSpecs, type PathStep } from './edit.ts';

/** A place in manifests that refers to artifacts of one type. */
export interface Replacer {
  readonly artifactType: string;
  /** Applies `change` to each reference; unchanged values keep their identity. */
  readonly changeReferences: (manifest: Manifest, change: (reference: string) => string) => Manifest;
  /** The artifact's name that a reference means. */
  readonly getName: (reference: string) => string;
}

/** The types of artifacts that manifests refer to. */
export const artifactTypes = {
  dockerImage: 'docker/image',
  configMap: 'kubernetes/configMap',
  secret: 'kubernetes/secret',
  deployment: 'kubernetes/deployment',
  replicaSet: 'kubernetes/replicaSet',
} as const;

/** The lists of containers in a pod spec that are searched; as in Clouddriver, not the ephemeral ones. */
const containerLists = ['containers', 'initContainers'];

/** Applies a change to the pod specs of a manifest; unchanged values keep their identity. */
type ChangePodSpecs = (manifest: Manifest, change: (podSpec: JsonObject) => JsonObject) => Manifest;

/** Where the pods of workloads refer to artifacts, in search order. */
const podTemplateReplacers: readonly Replacer[] = [
  {
    ...inPodSpecs(changeTemplateSpecs, artifactTypes.dockerImage, inContainers('image')),
    getName: cutTagOrDigest,
  },
  ...listConfigReplacers(changeTemplateSpecs),
];

/** A bare pod: the images of its containers, each compared whole, and its ConfigMaps and Secrets, which Clouddriver ignores. */
const podReplacers: readonly Replacer[] = [
  {
    artifactType: artifactTypes.dockerImage,
    changeReferences: (manifest, change) =>
      changeStrings(manifest, ['spec', 'containers', '*', 'image'], change),
    getName: takeWhole,
  },
  ...listConfigReplacers(changeOwnSpec),
];

/** What an autoscaler scales. */
const scaleTargetReplacers: readonly Replacer[] = [
  inScaleTarget(artifactTypes.deployment, ['Deployment', 'deployment']),
  inScaleTarget(artifactTypes.replicaSet, ['ReplicaSet', 'replicaSet']),
];

/** The places of each set that a kind may have. */
export const replacerSets: { readonly [set in ReplacerSet]: readonly Replacer[] } = {
  none: [],
  podTemplate: podTemplateReplacers,
  pod: podReplacers,
  scaleTarget: scaleTargetReplacers,
};

/** Where pod specs refer to ConfigMaps and Secrets. */
function listConfigReplacers(changePodSpecs: ChangePodSpecs): Replacer[] {
  const { configMap, secret } = artifactTypes;
  const sources = ['volumes', '*', 'projected', 'sources', '*'];
  return [
    inPodSpecs(changePodSpecs, configMap, [['volumes', '*', 'configMap', 'name']]),
    inPodSpecs(changePodSpecs, secret, [['volumes', '*', 'secret', 'secretName']]),
    inPodSpecs(changePodSpecs, configMap, [[...sources, 'configMap', 'name']]),
    inPodSpecs(changePodSpecs, secret, [[...sources, 'secret', 'name']]),
    inPodSpecs(changePodSpecs, configMap, inContainers('envFrom', '*', 'configMapRef', 'name')),
    inPodSpecs(changePodSpecs, secret, inContainers('envFrom', '*', 'secretRef', 'name')),
    inPodSpecs(changePodSpecs, configMap, inContainers('env', '*', 'valueFrom', 'configMapKeyRef', 'name')),
    inPodSpecs(changePodSpecs, secret, inContainers('env', '*', 'valueFrom', 'secretKeyRef', 'name')),
  ];
}

/** `changePodSpecs` of a bare pod. */
function changeOwnSpec(manifest: Manifest, change: (podSpec: JsonObject) => JsonObject): Manifest {
  const spec = manifest['spec'];
  const changed = isJsonObject(spec) ? change(spec) : spec;
  return changed === spec || changed === undefined ? manifest : { ...manifest, spec: changed };
}

/** References at `paths` within pod specs. */
function inPodSpecs(
  changePodSpecs: ChangePodSpecs,
  artifactType: string,
  paths: readonly (readonly PathStep[])[],
): Replacer {
  return {
    artifactType,
    changeReferences: (manifest, change) =>
      changePodSpecs(manifest, (podSpec) =>
        paths.reduce((changed, path) => changeStrings(changed, path, change), podSpec),
      ),
    getName: takeWhole,
  };
}

/** The paths in a pod spec to the same place in each container. */
function inContainers(...path: readonly PathStep[]): readonly (readonly PathStep[])[] {
  return containerLists.map((list) => [list, '*', ...path]);
}

/** The name of an autoscaler's target, if the target is of one of these kinds. */
function inScaleTarget(artifactType: string, kinds: readonly JsonValue[]): Replacer {
  return {
    artifactType,
    changeReferences: (manifest, change) => {
      const target = asUnchecked<V2HorizontalPodAutoscaler>(manifest).spec?.scaleTargetRef;
      if (!isJsonObject(target) || !kinds.includes(target.kind ?? null)) return manifest;
      return changeStrings(manifest, ['spec', 'scaleTargetRef', 'name'], change);
    },
    getName: takeWhole,
  };
}

/**
 * The name of an image without tag and digest. As in Clouddriver, a registry's port counts as a tag if neither follows it
 * (`registry:5000/web` is `registry`): existing pipelines rely on that. A tag followed by a digest stays, so that no artifact is found.
 */
function cutTagOrDigest(image: string): string {
  const digest = image.indexOf('@');
  if (digest >= 0) return image.slice(0, digest).replace(/:[^:/]*$/, '');
  const tag = image.lastIndexOf(':');
  return tag >= 0 ? image.slice(0, tag) : image;
}

/** The reference is the name. */
function takeWhole(reference: string): string {
  return reference;
}
