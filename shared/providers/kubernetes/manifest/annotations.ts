import type { KubernetesObject } from '@kubernetes/client-node';
import type { JsonBounds } from '#core/bounded-json.ts';
import {
  asJsonObject,
  asString,
  getPath,
  isJsonObject,
  type JsonPrimitive,
  type JsonValue,
} from '#core/json.ts';
import { findJson } from '../api/find-json.ts';
import type { Manifest } from '../api/manifest.ts';
import { asUnchecked } from '../api/unchecked.ts';

/**
 * JSON in annotations is small: Kubernetes allows 256 KiB for all annotations together. But the server may not be Kubernetes. The same for a
 * line of a log.
 */
const annotationBounds: JsonBounds = { depthMax: 512, valuesMax: 100_000 };

/** The annotations and labels that we share with Spinnaker and Kubernetes. */
export const annotationKeys = {
  artifactType: 'artifact.spinnaker.io/type',
  artifactName: 'artifact.spinnaker.io/name',
  artifactLocation: 'artifact.spinnaker.io/location',
  artifactVersion: 'artifact.spinnaker.io/version',
  application: 'moniker.spinnaker.io/application',
  cluster: 'moniker.spinnaker.io/cluster',
  stack: 'moniker.spinnaker.io/stack',
  detail: 'moniker.spinnaker.io/detail',
  /** Also a label. */
  sequence: 'moniker.spinnaker.io/sequence',
  loadBalancers: 'traffic.spinnaker.io/load-balancers',
  versioned: 'strategy.spinnaker.io/versioned',
  maxVersionHistory: 'strategy.spinnaker.io/max-version-history',
  useSourceCapacity: 'strategy.spinnaker.io/use-source-capacity',
  recreate: 'strategy.spinnaker.io/recreate',
  replace: 'strategy.spinnaker.io/replace',
  serverSideApply: 'strategy.spinnaker.io/server-side-apply',
  ignoreCaching: 'caching.spinnaker.io/ignore',
  readiness: 'busdriver.io/readiness',
  /** On objects that a V1 operation created: names what chose to create it. */
  creation: 'busdriver.io/creation',
  deploymentRevision: 'deployment.kubernetes.io/revision',
  lastApplied: 'kubectl.kubernetes.io/last-applied-configuration',
  /** On manifests returned from the cache: most of each is missing, so it must not be deployed. */
  incomplete: 'busdriver.io/incomplete',
} as const;

/** Texts by key, like labels and annotations. */
export type TextMap = { readonly [key: string]: string };

/** `metadata.annotations`; empty when there are none. */
export function readAnnotations(manifest: Manifest): TextMap {
  return toTextMap(asUnchecked<KubernetesObject>(manifest).metadata?.annotations);
}

/** `metadata.labels`; empty when there are none. */
export function readLabels(manifest: Manifest): TextMap {
  return toTextMap(asUnchecked<KubernetesObject>(manifest).metadata?.labels);
}

/**
 * The text of an annotation, or undefined when it is absent. Old releases of Spinnaker stored text JSON-encoded: a value in quotation marks
 * is decoded, and counts as absent if that fails.
 */
export function readTextAnnotation(manifest: Manifest, key: string): string | undefined {
  const value = findAnnotation(manifest, key);
  if (value === undefined || value.length < 2 || !value.startsWith('"') || !value.endsWith('"')) return value;
  return asString(parseJson(value));
}

/** The integer in an annotation; undefined if it is absent or not an integer. */
export function readIntegerAnnotation(manifest: Manifest, key: string): number | undefined {
  const text = readTextAnnotation(manifest, key)?.trim() ?? '';
  return /^[+-]?\d{1,9}$/.test(text) ? Number(text) : undefined;
}

/** Whether an annotation says `true`, in any case. */
export function readFlagAnnotation(manifest: Manifest, key: string): boolean {
  return readTextAnnotation(manifest, key)?.toLowerCase() === 'true';
}

/** The texts of an annotation that holds a JSON array of them; empty when it is absent or not one. */
export function readListAnnotation(manifest: Manifest, key: string): readonly string[] {
  const value = parseJson(findAnnotation(manifest, key) ?? '');
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

/** Whether the annotation is there, whatever its value. */
export function hasAnnotation(manifest: Manifest, key: string): boolean {
  return findAnnotation(manifest, key) !== undefined;
}

/** The JSON in `text`; undefined if it is not JSON. */
export function parseJson(text: string): JsonValue | undefined {
  return findJson(text, annotationBounds);
}

/** The raw text of an annotation. */
function findAnnotation(manifest: Manifest, key: string): string | undefined {
  const value = getPath(asUnchecked<KubernetesObject>(manifest).metadata?.annotations, key);
  return isScalar(value) ? String(value) : undefined;
}

/** The scalars of an object as text: Kubernetes accepts only text, but a request may hold numbers and booleans. */
export function toTextMap(value: JsonValue | undefined): TextMap {
  const entries = Object.entries(asJsonObject(value) ?? {});
  return Object.fromEntries(entries.filter(([, member]) => isScalar(member)).map(([k, v]) => [k, String(v)]));
}

/** True for text, numbers and booleans. */
export function isScalar(value: JsonValue | undefined): value is Exclude<JsonPrimitive, null> {
  return value !== undefined && value !== null && !Array.isArray(value) && !isJsonObject(value);
}
