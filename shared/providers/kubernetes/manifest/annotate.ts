import { getPath, isJsonObject, type JsonObject } from '../../../core/json.ts';
import type { Moniker } from '../../../core/moniker.ts';
import type { Artifact } from '../../../core/providers/artifact.ts';
import type { Manifest } from '../api/manifest.ts';
import { annotationKeys, readTextAnnotation, type TextMap } from './annotations.ts';
import { changeObject } from './edit.ts';
import { readFullName } from './identity.ts';

/** Which labels a deploy writes. */
export interface LabelSettings {
  /** Whether to write any (`kubernetes.v2.apply-app-labels`). */
  readonly applyAppLabels: boolean;
  /** Appended with a hyphen to `spinnaker` in `app.kubernetes.io/managed-by`; empty for none. */
  readonly managedBySuffix: string;
  /** Leave the labels of the pod template alone; its annotations are written all the same. */
  readonly skipSpecTemplateLabels: boolean;
}

/** What makes the moniker of a deployed manifest. */
export interface DeployMonikerInput {
  readonly manifest: Manifest;
  /** The moniker of the request. */
  readonly requested: Moniker;
  /** The version it gets; undefined when it is not versioned. */
  readonly version: number | undefined;
}

/** The artifact that a deploy recorded on the object, or undefined when none did. */
export function findRecordedArtifact(manifest: Manifest): Artifact | undefined {
  const type = readTextAnnotation(manifest, annotationKeys.artifactType);
  if (!type) return undefined;
  return {
    type,
    name: readTextAnnotation(manifest, annotationKeys.artifactName) ?? '',
    location: readTextAnnotation(manifest, annotationKeys.artifactLocation) ?? '',
    version: readTextAnnotation(manifest, annotationKeys.artifactVersion) ?? '',
  };
}

/** The manifest with its artifact recorded on it and on its pod template. What is annotated already stays. */
export function annotateArtifact(manifest: Manifest, artifact: Artifact): Manifest {
  return addAnnotations(manifest, {
    [annotationKeys.artifactType]: artifact.type,
    [annotationKeys.artifactName]: artifact.name,
    [annotationKeys.artifactLocation]: artifact.location,
    [annotationKeys.artifactVersion]: artifact.version,
  });
}

/** The request's moniker, with the version as its sequence and the object's own cluster (`deployment web`) if it names none. */
export function createDeployMoniker({ manifest, requested, version }: DeployMonikerInput): Moniker {
  return {
    ...requested,
    cluster: requested.cluster || readFullName(manifest),
    ...(version === undefined ? {} : { sequence: version }),
  };
}

/** The manifest with its moniker on it and on its pod template, and Spinnaker's labels. */
export function annotateMoniker(manifest: Manifest, moniker: Moniker, settings: LabelSettings): Manifest {
  const annotated = addAnnotations(manifest, {
    [annotationKeys.application]: moniker.app,
    [annotationKeys.cluster]: moniker.cluster,
    [annotationKeys.stack]: moniker.stack,
    [annotationKeys.detail]: moniker.detail,
    [annotationKeys.sequence]: moniker.sequence?.toString(),
  });
  return settings.applyAppLabels ? addLabels(annotated, moniker, settings) : annotated;
}

/** The manifest with the annotation on the object alone, unless it has it. */
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

/** Writes annotations on the object and on its pod template, each only where it is missing. */
function addAnnotations(
  manifest: Manifest,
  annotations: { readonly [key: string]: string | undefined },
): Manifest {
  const wanted: TextMap = Object.fromEntries(
    Object.entries(annotations).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  return listMetadata(manifest, true).reduce(
    (changed, path) =>
      changeObject(changed, [...path, 'annotations'], (present) => ({ ...wanted, ...dropNulls(present) })),
    manifest,
  );
}

/** Writes the labels of Kubernetes' recommended set. The application's name of the user stays, the others are ours. */
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
