import type { Moniker } from '#core/frigga.ts';
import { getPath, isJsonObject, type JsonObject } from '#core/json.ts';
import type { Artifact } from '#provider-kit/artifact.ts';
import type { Manifest } from '../api/manifest.ts';
import { annotationKeys, type TextMap } from './annotations.ts';
import { changeObject } from './edit.ts';
import { readFullName } from './identity.ts';
import { parseVersion } from './version.ts';

/** Which labels a deploy writes. */
export interface LabelSettings {
  /** Whether to write any (`kubernetes.v2.apply-app-labels`). */
  readonly applyAppLabels: boolean;
  /** Appended with a hyphen to `spinnaker` in `app.kubernetes.io/managed-by`; empty for none. */
  readonly managedBySuffix: string;
  /** Leave the labels of the pod template alone; its annotations are still written. */
  readonly skipSpecTemplateLabels: boolean;
}

/**
 * Records the artifact, and the number of the version, on the manifest and on its pod template. Replaces what is recorded there already: a
 * manifest may be a copy of another object, or of another version of it.
 */
export function annotateArtifact(manifest: Manifest, artifact: Artifact): Manifest {
  const annotations = {
    [annotationKeys.artifactType]: artifact.type,
    [annotationKeys.artifactName]: artifact.name,
    [annotationKeys.artifactLocation]: artifact.location,
    [annotationKeys.artifactVersion]: artifact.version,
    [annotationKeys.sequence]: parseVersion(artifact.version ?? '')?.toString(),
  };
  return addAnnotations(manifest, annotations, 'ours win');
}

/** The request's moniker, with the version as its sequence and the object's own cluster (`deployment web`) if it names none. */
export function createDeployMoniker(
  manifest: Manifest,
  requested: Moniker,
  version: number | undefined,
): Moniker {
  return {
    ...requested,
    cluster: requested.cluster || readFullName(manifest),
    ...(version === undefined ? {} : { sequence: version }),
  };
}

/** The manifest with the moniker on it and on its pod template, and with Spinnaker's labels. */
export function annotateMoniker(manifest: Manifest, moniker: Moniker, settings: LabelSettings): Manifest {
  const annotations = {
    [annotationKeys.application]: moniker.app,
    [annotationKeys.cluster]: moniker.cluster,
    [annotationKeys.stack]: moniker.stack,
    [annotationKeys.detail]: moniker.detail,
    [annotationKeys.sequence]: moniker.sequence?.toString(),
  };
  const annotated = addAnnotations(manifest, annotations, 'theirs win');
  return settings.applyAppLabels ? addLabels(annotated, moniker, settings) : annotated;
}

/** The manifest with the annotation on the object alone, unless the annotation is there already. */
export function annotateObject(manifest: Manifest, key: string, value: string): Manifest {
  return changeObject(manifest, ['metadata', 'annotations'], (present) => ({
    [key]: value,
    ...dropNulls(present),
  }));
}

/** The path of the pod template's metadata if the manifest has one, which may be empty but not null. */
export function findTemplateMetadata(manifest: Manifest): readonly string[] | undefined {
  const path = ['spec', 'template', 'metadata'];
  return isJsonObject(getPath(manifest, ...path)) ? path : undefined;
}

/** Writes annotations on the object and on its pod template. The last parameter says which value wins if one is there already. */
function addAnnotations(
  manifest: Manifest,
  annotations: { readonly [key: string]: string | undefined },
  whose: 'ours win' | 'theirs win',
): Manifest {
  const wanted: TextMap = Object.fromEntries(
    Object.entries(annotations).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  return listMetadata(manifest, true).reduce(
    (changed, path) =>
      changeObject(changed, [...path, 'annotations'], (present) =>
        whose === 'ours win' ? { ...dropNulls(present), ...wanted } : { ...wanted, ...dropNulls(present) },
      ),
    manifest,
  );
}

/** Writes the labels of Kubernetes' recommended set. The user's name of the application stays; the other labels are ours. */
function addLabels(manifest: Manifest, moniker: Moniker, settings: LabelSettings): Manifest {
  const { managedBySuffix: suffix } = settings;
  const defaults = moniker.app === undefined ? {} : { 'app.kubernetes.io/name': moniker.app };
  const overrides = {
    'app.kubernetes.io/managed-by': suffix === '' ? 'spinnaker' : `spinnaker-${suffix}`,
    ...(moniker.sequence === undefined ? {} : { [annotationKeys.sequence]: String(moniker.sequence) }),
  };
  return listMetadata(manifest, !settings.skipSpecTemplateLabels).reduce(
    (changed, path) =>
      changeObject(changed, [...path, 'labels'], (present) => ({
        ...defaults,
        ...dropNulls(present),
        ...overrides,
      })),
    manifest,
  );
}

/** Paths of the metadata to write: the object's, and the pod template's if there is one and it is wanted. */
function listMetadata(manifest: Manifest, withTemplate: boolean): readonly (readonly string[])[] {
  const template = withTemplate ? findTemplateMetadata(manifest) : undefined;
  return template === undefined ? [['metadata']] : [['metadata'], template];
}

/** The object without its null members, which would hide what is written beneath them. */
function dropNulls(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null));
}
