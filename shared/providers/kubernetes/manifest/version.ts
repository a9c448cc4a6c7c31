import type { KubernetesObject } from '@kubernetes/client-node';
import { asJsonObject, getPath, isSameJson, type JsonObject, type JsonValue, omitNulls } from '#core/json.ts';
import { compareText } from '#core/text-order.ts';
import type { Artifact } from '#provider-kit/artifact.ts';
import type { Manifest } from '../api/manifest.ts';
import { asUnchecked } from '../api/unchecked.ts';
import { annotationKeys, parseJson, readTextAnnotation } from './annotations.ts';
import { hasController, readCreationTimestamp, readKind, readName } from './identity.ts';
import type { Strategy } from './strategy.ts';

/**
 * Whether a manifest is deployed as a version: its annotation decides, then the request, then its kind. A name that the server generates is
 * never versioned.
 *
 * @param requested `versioned` of the request; undefined when it does not say.
 * @param kindDefault whether objects of the kind are versioned by default.
 */
export function isVersioned(
  { method, versioned }: Strategy,
  requested: boolean | undefined,
  kindDefault: boolean,
): boolean {
  return method !== 'create' && (versioned ?? requested ?? kindDefault);
}

/** What an object is a version of. */
export interface ObjectVersion {
  /** The name without the number: `flags` of `flags-v003`. */
  readonly name: string;
  /** From 0 to 999,999,999. */
  readonly number: number;
  /** Whether a controller owns the object: then its number is taken, and the object is not ours. */
  readonly isControlled: boolean;
}

/** A live object that is a version. */
interface LiveVersion extends ObjectVersion {
  readonly object: Manifest;
}

/**
 * The version that an object is, in its own namespace; undefined if it is not a version. Annotations are copied with objects: those that a
 * deploy recorded count only on an object of the recorded kind with the name of the recorded version. The recorded namespace never counts.
 */
export function findVersion(object: Manifest): ObjectVersion | undefined {
  const name = readTextAnnotation(object, annotationKeys.artifactName);
  const number = parseVersion(readTextAnnotation(object, annotationKeys.artifactVersion) ?? '');
  if (!name || number === undefined || readName(object) !== formatVersionedName(name, number))
    return undefined;
  if (readTextAnnotation(object, annotationKeys.artifactType) !== getArtifactType(object)) return undefined;
  return { name, number, isControlled: hasController(object) };
}

/** The type of the artifact that an object is: `kubernetes/configMap`. */
export function getArtifactType(object: Manifest): string {
  return `kubernetes/${readKind(object)}`;
}

/**
 * The number of the manifest's version: that of the oldest live version that was applied from the same content, so that an unchanged
 * manifest makes no new one; else one more than the highest, from 0. Skips numbers whose name belongs to an object that is not a version: a
 * version is created, never applied over something else. After the highest possible number comes the lowest free one.
 *
 * @param manifest with its artifacts bound, before annotations are added.
 * @param live the live objects of its kind in its namespace.
 */
export function chooseVersion(manifest: Manifest, live: readonly Manifest[]): number {
  const name = readName(manifest);
  const { versions, names } = indexLive(live);
  const prior = versions.get(name) ?? [];
  const same = prior.find(({ object, isControlled }) => !isControlled && isAppliedFrom(object, manifest));
  if (same !== undefined) return same.number;
  const highest = prior.reduce((most, { number }) => Math.max(most, number), -1);
  let version = highest < versionMax ? highest + 1 : 0;
  while (names.has(formatVersionedName(name, version))) version += 1;
  return version;
}

/** The live versions of what is deployed under `name`, oldest first, without those that a controller owns. */
export function listVersions(live: readonly Manifest[], name: string): Manifest[] {
  return listOwn(live, name).map(({ object }) => object);
}

/** The highest number of those; undefined when there is none. */
export function findLatestVersion(live: readonly Manifest[], name: string): number | undefined {
  return listOwn(live, name).reduce<number | undefined>(
    (most, { number }) => Math.max(most ?? 0, number),
    undefined,
  );
}

function listOwn(live: readonly Manifest[], name: string): LiveVersion[] {
  return (indexLive(live).versions.get(name) ?? []).filter(({ isControlled }) => !isControlled);
}

/** Live objects, indexed for searches. */
interface LiveIndex {
  /** By the names without a number, oldest first. */
  readonly versions: ReadonlyMap<string, readonly LiveVersion[]>;
  /** The names of all the objects. */
  readonly names: ReadonlySet<string>;
}

/** For each searched list of live objects: all manifests of a deploy search the same ones. */
const indexes = new WeakMap<readonly Manifest[], LiveIndex>();

function indexLive(live: readonly Manifest[]): LiveIndex {
  const known = indexes.get(live);
  if (known !== undefined) return known;
  const versions = live.flatMap((object): LiveVersion[] => {
    const version = findVersion(object);
    return version === undefined ? [] : [{ ...version, object }];
  });
  const sorted = versions.toSorted(
    (one, other) =>
      compareText(readCreationTimestamp(one.object), readCreationTimestamp(other.object)) ||
      one.number - other.number,
  );
  const index = { versions: Map.groupBy(sorted, ({ name }) => name), names: new Set(live.map(readName)) };
  indexes.set(live, index);
  return index;
}

/** The live versions of `artifact` beyond its `max` newest, oldest first. A negative `max` keeps all. */
export function listExpiredVersions(live: readonly Manifest[], artifact: Artifact, max: number): Manifest[] {
  const versions = listVersions(live, artifact.name ?? '');
  return max < 0 ? [] : versions.slice(0, Math.max(0, versions.length - max));
}

/** `v003` for 3; four digits and more from 1000 on. */
export function formatVersion(version: number): string {
  return `v${String(version).padStart(3, '0')}`;
}

/** The highest number of a version. */
const versionMax = 999_999_999;

/** The number of `v003`, or undefined for text that is not a version. */
export function parseVersion(text: string): number | undefined {
  return /^v\d{1,9}$/.test(text) ? Number(text.slice(1)) : undefined;
}

/** The name an object has in the cluster: `name-v003`, or the name alone if it has no version. */
export function formatVersionedName(name: string, version: number | undefined): string {
  return version === undefined ? name : `${name}-${formatVersion(version)}`;
}

/**
 * Whether the object was last applied from this content, apart from its top-level metadata. Only client-side applies record the content;
 * other objects never match.
 */
export function isAppliedFrom(object: Manifest, manifest: Manifest): boolean {
  const { metadata } = asUnchecked<KubernetesObject>(object);
  const record = getPath(metadata?.annotations, annotationKeys.lastApplied);
  const applied = typeof record === 'string' ? asJsonObject(parseJson(record)) : undefined;
  return applied !== undefined && hasSameContent(applied, manifest);
}

/** Whether two objects are equal, apart from their top-level metadata. */
export function hasSameContent(one: JsonObject, other: JsonObject): boolean {
  return isSameJson(toContent(one), toContent(other));
}

/** All but the top-level metadata, without nulls, which the cluster never receives. */
function toContent(manifest: JsonObject): JsonValue {
  const { metadata: _metadata, ...content } = manifest;
  return omitNulls(content);
}
