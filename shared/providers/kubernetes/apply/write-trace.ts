import { createHash } from 'node:crypto';
import { asString, getPath, isJsonObject, isSameJson, type JsonObject, type JsonValue } from '#core/json.ts';
import type { Manifest } from '../api/manifest.ts';
import { formatGoJson } from '../manifest/go-json.ts';
import { listEntries } from './managed-fields.ts';

/**
 * What an object shows of earlier writes, stored before a new one: a later read compares it to decide whether the write took effect. Small,
 * and reveals no value of the object.
 */
export type WriteTrace = {
  /** Empty if there is no object. */
  readonly resourceVersion: string;
  /** Fingerprint of what the writers below own, and since when. */
  readonly ownership: string;
};

/** The state of submitting a manifest that must not be written twice. */
export interface SubmissionState {
  /** The trace of the object before the first try. Default: it is read. */
  readonly before?: WriteTrace | undefined;
  /** True if an earlier worker may have written already. Default: false. */
  readonly isRepeat?: boolean | undefined;
}

/** The managers under which objects are written whole or server-side, and the operation. */
const writers: readonly (readonly [manager: string, operation: 'Apply' | 'Update'])[] = [
  ['kubectl', 'Apply'],
  ['kubectl-create', 'Update'],
  ['kubectl-replace', 'Update'],
];

/** The trace of an object before it is written; the object may not exist. */
export function readTrace(live: Manifest | undefined): WriteTrace {
  const entries = listEntries(live).filter(isOfWriter);
  const ownership = createHash('sha256').update(formatGoJson(entries)).digest('base64url');
  return { resourceVersion: readResourceVersion(live) ?? '', ownership };
}

/** The version of a live object, or of the one that a manifest was made from; undefined without one. */
export function readResourceVersion(object: Manifest | undefined): string | undefined {
  return asString(getPath(object, 'metadata', 'resourceVersion')) || undefined;
}

/**
 * True if the write of a manifest surely took effect since the trace was read: what we own changed, and the object has all that the
 * manifest says. False if in doubt: writing the same again changes nothing.
 */
export function tookEffect(live: Manifest | undefined, manifest: Manifest, before: WriteTrace): boolean {
  if (live === undefined || readTrace(live).ownership === before.ownership) return false;
  return holdsManifest(live, manifest);
}

/** Whether an object has all that a manifest says, except for the version that it may name. It may have more. */
export function holdsManifest(live: Manifest, manifest: Manifest): boolean {
  const { metadata, ...rest } = manifest;
  const { resourceVersion: _, ...said } = isJsonObject(metadata) ? metadata : {};
  return holds(live, { ...rest, metadata: said });
}

function isOfWriter({ subresource, manager, operation }: JsonObject): boolean {
  return subresource === undefined && writers.some((each) => each[0] === manager && each[1] === operation);
}

/** Whether an object has at least the members of another. Elements of lists are compared by position. */
function holds(present: JsonValue | undefined, wanted: JsonValue): boolean {
  if (isJsonObject(wanted)) return isJsonObject(present) && holdsMembers(present, wanted);
  if (!Array.isArray(wanted)) return isSameJson(present, wanted);
  if (!Array.isArray(present) || present.length !== wanted.length) return false;
  return wanted.every((element, index) => holds(present[index], element));
}

function holdsMembers(present: JsonObject, wanted: JsonObject): boolean {
  return Object.entries(wanted).every(
    ([key, value]) => value === null || (Object.hasOwn(present, key) && holds(present[key], value)),
  );
}
