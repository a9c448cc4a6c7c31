import type { KubernetesObject, V1Deployment, V1ObjectMeta, V1OwnerReference } from '@kubernetes/client-node';
import { type Moniker, parseMoniker } from '#core/frigga.ts';
import { asString, isJsonObject } from '#core/json.ts';
import type { Manifest } from '../api/manifest.ts';
import { asUnchecked, findNumber, readList, type Unchecked } from '../api/unchecked.ts';
import { formatFullName, getKindName } from '../kinds/name.ts';
import { annotationKeys, hasAnnotation, readIntegerAnnotation, readTextAnnotation } from './annotations.ts';

/** Where an object is found in its cluster. */
export interface Coordinates {
  /** Spinnaker's name of the kind. */
  readonly kind: string;
  /** Empty for a cluster-scoped object, and for a manifest that names none. */
  readonly namespace: string;
  /** Empty for a manifest whose name the server generates. */
  readonly name: string;
}

/** An owner, as an object's metadata names it. */
export interface OwnerReference {
  /** Spinnaker's name of the kind. */
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

/** Spinnaker's name of the object's kind; `none` when it has no kind. */
export function readKind(manifest: Manifest): string {
  const { apiVersion, kind } = asUnchecked<KubernetesObject>(manifest);
  return getKindName(asString(apiVersion) ?? '', asString(kind) ?? '');
}

/** `metadata.namespace`, empty when absent. */
export function readNamespace(manifest: Manifest): string {
  return asString(readMetadata(manifest)?.namespace) ?? '';
}

/** `metadata.name`, empty when absent. */
export function readName(manifest: Manifest): string {
  return asString(readMetadata(manifest)?.name) ?? '';
}

/** `metadata.generateName`, but only if it applies: when there is no name. */
export function readGenerateName(manifest: Manifest): string | undefined {
  if (readName(manifest) !== '') return undefined;
  return asString(readMetadata(manifest)?.generateName) || undefined;
}

/** Where the object is found. */
export function readCoordinates(manifest: Manifest): Coordinates {
  return { kind: readKind(manifest), namespace: readNamespace(manifest), name: readName(manifest) };
}

/** Spinnaker's name of the object, `kind name`; with the name's prefix if the server generates the name. */
export function readFullName(manifest: Manifest): string {
  return formatFullName(readKind(manifest), readName(manifest) || (readGenerateName(manifest) ?? ''));
}

/** `metadata.creationTimestamp` as Kubernetes writes it (RFC 3339, UTC), empty when absent. Such texts sort by time. */
export function readCreationTimestamp(manifest: Manifest): string {
  return asString(readMetadata(manifest)?.creationTimestamp) ?? '';
}

/** `spec.replicas`, or undefined when it is no number. */
export function findReplicas(manifest: Manifest): number | undefined {
  return findNumber(asUnchecked<V1Deployment>(manifest).spec?.replicas);
}

/** The owners that `metadata.ownerReferences` names. */
export function readOwners(manifest: Manifest): readonly OwnerReference[] {
  const listed = readList(readMetadata(manifest)?.ownerReferences);
  const owners: readonly Unchecked<V1OwnerReference>[] = listed.filter(isJsonObject);
  return owners.map((owner) => ({
    kind: readOwnerKind(owner),
    name: asString(owner?.name) ?? '',
    uid: asString(owner?.uid) ?? '',
  }));
}

/** Whether a controller owns the object: it creates, changes and deletes such objects as it sees fit. */
export function hasController(manifest: Manifest): boolean {
  return findController(manifest) !== undefined;
}

/**
 * A live object's moniker. Spinnaker's annotations decide; application, cluster and sequence fall back to the name. Without annotations a
 * ReplicaSet's sequence is its Deployment's revision, and its cluster comes from its Deployment's name: its own name ends with a hash and
 * would make each a cluster, as in Clouddriver.
 */
export function readMoniker(manifest: Manifest): Moniker {
  const named = parseMoniker(readName(manifest));
  const deployment = findControllingDeployment(manifest);
  const namedCluster = deployment === undefined ? named.cluster : parseMoniker(deployment).cluster;
  const app = readTextAnnotation(manifest, annotationKeys.application) ?? named.app;
  const cluster = readTextAnnotation(manifest, annotationKeys.cluster) ?? namedCluster;
  const stack = readTextAnnotation(manifest, annotationKeys.stack);
  const detail = readTextAnnotation(manifest, annotationKeys.detail);
  const sequence = readSequence(manifest, named.sequence);
  return {
    ...(app === undefined ? {} : { app }),
    ...(cluster === undefined ? {} : { cluster }),
    ...(stack === undefined ? {} : { stack }),
    ...(detail === undefined ? {} : { detail }),
    ...(sequence === undefined ? {} : { sequence }),
  };
}

/** The name of the Deployment to which a ReplicaSet belongs; undefined for any other object. */
function findControllingDeployment(manifest: Manifest): string | undefined {
  if (readKind(manifest) !== 'replicaSet') return undefined;
  const owner = findController(manifest);
  return readOwnerKind(owner) === 'deployment' ? asString(owner?.name) || undefined : undefined;
}

/** The owner that is the object's controller; Kubernetes allows one at most. */
function findController(manifest: Manifest): Unchecked<V1OwnerReference> {
  return readList(readMetadata(manifest)?.ownerReferences).find((each) => each?.controller === true);
}

/** Spinnaker's name of an owner's kind; `none` when it has no kind. */
function readOwnerKind(owner: Unchecked<V1OwnerReference>): string {
  return getKindName(asString(owner?.apiVersion) ?? '', asString(owner?.kind) ?? '');
}

/** `metadata`, whatever it is. */
function readMetadata(manifest: Manifest): Unchecked<V1ObjectMeta> {
  return asUnchecked<KubernetesObject>(manifest).metadata;
}

/** An annotation decides even if it holds no number: then there is no sequence. */
function readSequence(manifest: Manifest, named: number | undefined): number | undefined {
  const keys = [annotationKeys.sequence];
  const candidates =
    readKind(manifest) === 'replicaSet' ? [...keys, annotationKeys.deploymentRevision] : keys;
  const key = candidates.find((candidate) => hasAnnotation(manifest, candidate));
  return key === undefined ? named : readIntegerAnnotation(manifest, key);
}
