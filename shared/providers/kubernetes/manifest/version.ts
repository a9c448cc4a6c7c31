import type { KubernetesObject } from '@kubernetes/client-node';
import {
  asJsonObject,
  getPath,
  isSameJson,
  type JsonObject,
  type JsonValue,
  omitNulls,
} from '../../../core/json.ts';
import type { Artifact } from '../../../core/providers/artifact.ts';
import { compareText } from '../../../core/text-order.ts';
import type { Manifest } from '../api/manifest.ts';
import { asUnchecked } from '../api/unchecked.ts';
import { findRecordedArtifact } from './annotate.ts';
import { annotationKeys, parseJson } from './annotations.ts';
import { readCreationTimestamp, readGenerateName, readName } from './identity.ts';
import { readStrategy } from './strategy.ts';

/** What decides whether a deploy makes a new version of an object. */
export interface VersioningInput {
  readonly manifest: Manifest;
  /** `versioned` of the request; undefined when it does not say. */
  readonly requested: boolean | undefined;
  /** What objects of the kind do by default. */
  readonly kindDefault: boolean;
}

/** What decides the number of a version. */
export interface VersionInput {
  /** With its artifacts bound, before anything is annotated. */
  readonly manifest: Manifest;
  /** The live objects of its kind in its namespace. */
  readonly live: readonly Manifest[];
}

/**
 * Whether the manifest is deployed as a version: its annotation decides, then the request, then its kind. A name
 * that the server makes up is never versioned.
 */
export function isVersioned({ manifest, requested, kindDefault }: VersioningInput): boolean {
  if (readGenerateName(manifest) !== undefined) return false;
  return readStrategy(manifest).versioned ?? requested ?? kindDefault;
}

/**
 * The number of the manifest's version: that of the oldest live version that was applied from the same content, so
 * that an unchanged manifest makes no new one; else one more than the highest, from 0. Numbers under whose name there is an
 * object that records no version are passed over: a version is created, never applied over something else.
 */
export function chooseVersion({ manifest, live }: VersionInput): number {
  const name = readName(manifest);
  const prior = listVersions(live, name);
  const same = prior.find((object) => isAppliedFrom(object, manifest) && findVersion(object) !== undefined);
  const reused = same === undefined ? undefined : findVersion(same);
  if (reused !== undefined) return reused;
  let version = Math.max(-1, ...prior.map((object) => findVersion(object) ?? -1)) + 1;
  const taken = new Set(live.map(readName));
  while (taken.has(formatVersionedName(name, version))) version += 1;
  return version;
}

/** The live versions of what is deployed under `name`, oldest first; none for an empty name. */
export function listVersions(live: readonly Manifest[], name: string): Manifest[] {
  if (name === '') return [];
  const index = indexes.get(live) ?? indexByName(live);
  indexes.set(live, index);
  return [...(index.get(name) ?? [])];
}

/** Versions by name, for each list of live objects that was searched: each manifest of a deploy searches the same ones. */
const indexes = new WeakMap<readonly Manifest[], ReadonlyMap<string | undefined, readonly Manifest[]>>();

function indexByName(live: readonly Manifest[]): ReadonlyMap<string | undefined, readonly Manifest[]> {
  const sorted = live.toSorted((one, other) =>
    compareText(readCreationTimestamp(one), readCreationTimestamp(other)),
  );
  return Map.groupBy(sorted, (object) => findRecordedArtifact(object)?.name);
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

/** The number of `v003`, or undefined for text that is no version. */
export function parseVersion(text: string): number | undefined {
  return /^v\d{1,9}$/.test(text) ? Number(text.slice(1)) : undefined;
}

/** The name an object has in the cluster: `name-v003`, or the name alone where it has no version. */
export function formatVersionedName(name: string, version: number | undefined): string {
  return version === undefined ? name : `${name}-${formatVersion(version)}`;
}

/** The number of the version that a deploy recorded on the object. */
function findVersion(object: Manifest): number | undefined {
  return parseVersion(findRecordedArtifact(object)?.version ?? '');
}

/**
 * Whether the object was last applied from this content, apart from its top-level metadata. Objects written by
 * anything but a client-side apply carry no such record and never match.
 */
export function isAppliedFrom(object: Manifest, manifest: Manifest): boolean {
  const { metadata } = asUnchecked<KubernetesObject>(object);
  const record = getPath(metadata?.annotations, annotationKeys.lastApplied);
  const applied = typeof record === 'string' ? asJsonObject(parseJson(record)) : undefined;
  return applied !== undefined && hasSameContent(applied, manifest);
}

/** Whether two objects say the same, apart from their top-level metadata. */
export function hasSameContent(one: JsonObject, other: JsonObject): boolean {
  return isSameJson(toContent(one), toContent(other));
}

/** All but the top-level metadata, without nulls, which are dropped on the way to the cluster. */
function toContent(manifest: JsonObject): JsonValue {
  const { metadata: _metadata, ...content } = manifest;
  return omitNulls(content);
}
