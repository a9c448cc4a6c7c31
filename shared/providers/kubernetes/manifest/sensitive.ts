import type { KubernetesObject } from '@kubernetes/client-node';
import {
  asJsonObject,
  asString,
  isJsonObject,
  isWithinDepth,
  type JsonObject,
  type JsonValue,
} from '#core/json.ts';
import type { Manifest } from '../api/manifest.ts';
import { asUnchecked } from '../api/unchecked.ts';
import type { KindDefinition } from '../kinds/kind.ts';
import { annotationKeys, parseJson } from './annotations.ts';
import { changeMembers, mapMembers } from './edit.ts';

/**
 * Replaces each value of a Secret that is not shown. It is not base64, so no cluster accepts it as `data`, and operations refuse it: see
 * `findMaskedKeys`.
 */
export const secretMask = '******';
/** Members of a Secret that hold its values. */
export const secretKeys = ['data', 'stringData'] as const;
/** Values of a Secret shorter than this, characters, are too common to be searched for in other texts. */
export const shownValueLengthMin = 4;
/** An annotation's JSON that is nested deeper than this is not searched, but hidden as a whole. */
export const embeddedDepthMax = 64;

/** Spinnaker's own annotations: they hold names, which may equal a Secret's value by chance. */
const spinnakerAnnotation = /^[a-z]+\.spinnaker\.io\//;
/** The mask in base64, as in `data`. */
const encodedMask = Buffer.from(secretMask).toString('base64');

/** Whether an object is a Kubernetes Secret: of `v1`, its kind in upper or lower case. */
export function isSecret(object: JsonObject): boolean {
  return object['apiVersion'] === 'v1' && asString(object['kind'])?.toLowerCase() === 'secret';
}

/**
 * The manifest without what must not be shown outside its cluster: the sensitive top-level keys of its kind, and their copies in
 * annotations, above all in the record of the last apply. Annotations that may still contain them are removed.
 */
export function omitSensitiveKeys(manifest: Manifest, kind: Pick<KindDefinition, 'sensitiveKeys'>): Manifest {
  const { sensitiveKeys } = kind;
  const hideMembers = (object: JsonObject) => omitKeys(object, secretKeys);
  const stripped = sensitiveKeys.length === 0 ? manifest : omitKeys(manifest, sensitiveKeys);
  return hideInAnnotations(stripped, {
    values: sensitiveKeys.length === 0 ? undefined : listSecretValues(manifest),
    hideMembers,
    whole: undefined,
  });
}

/**
 * The object as shown to callers that may not see Secrets: each value of a Secret's `data` and `stringData` becomes the mask, and its keys
 * stay. The same applies to copies in its annotations, and to Secrets in a `List`. Unreadable annotations are masked as a whole.
 */
export function maskSecrets(object: Manifest): Manifest {
  const { items } = object;
  if (Array.isArray(items) && /list$/i.test(asString(object.kind) ?? '')) {
    return { ...object, items: items.map((item) => (isJsonObject(item) ? maskSecrets(item) : item)) };
  }
  const secret = isSecret(object);
  return hideInAnnotations(secret ? maskMembers(object) : object, {
    values: secret ? listSecretValues(object) : undefined,
    hideMembers: maskMembers,
    whole: secretMask,
  });
}

/** A text with each of a Secret's values replaced by the mask. @param values of `listSecretValues` */
export function maskValues(text: string, values: readonly string[]): string {
  return values.reduce((masked, value) => masked.replaceAll(value, secretMask), text);
}

/** The values of a Secret that are long enough to be found in other texts, plain and in base64; longest first. */
export function listSecretValues(secret: Manifest): string[] {
  const texts = Object.values(asJsonObject(secret['data']) ?? {}).filter((text) => typeof text === 'string');
  const plain = Object.values(asJsonObject(secret['stringData']) ?? {}).map(String);
  const values = [
    ...texts.flatMap((text) => [text, Buffer.from(text, 'base64').toString('utf8')]),
    ...plain.flatMap((text) => [text, Buffer.from(text).toString('base64')]),
  ];
  // In JSON a value may look different.
  const quoted = values.map((value) => JSON.stringify(value).slice(1, -1));
  const found = new Set([...values, ...quoted].filter((value) => value.length >= shownValueLengthMin));
  return [...found].sort((one, other) => other.length - one.length);
}

/**
 * Where an object contains the mask: `data.password`, `metadata.annotations.<key> (data.password)`. Empty if nothing is masked.
 *
 * @param secret whether it counts as a Secret; default: by its apiVersion and kind
 */
export function findMaskedKeys(object: JsonObject, secret = isSecret(object)): string[] {
  const annotations = asJsonObject(asUnchecked<KubernetesObject>(object).metadata?.annotations) ?? {};
  const found = Object.entries(annotations).flatMap(([key, text]) => {
    const place = `metadata.annotations.${key}`;
    if (isMask(text)) return [place];
    const isRecord = secret && key === annotationKeys.lastApplied;
    return findMaskedInText(text, isRecord).map((inner) => `${place} (${inner})`);
  });
  return [...(secret ? findMaskedMembers(object) : []), ...found];
}

function findMaskedMembers(object: JsonObject): string[] {
  return secretKeys.flatMap((member) => {
    const values = object[member];
    if (isMask(values)) return [member];
    return Object.entries(asJsonObject(values) ?? {})
      .filter(([, value]) => isMask(value) || (member === 'data' && value === encodedMask))
      .map(([key]) => `${member}.${key}`);
  });
}

function findMaskedInText(text: JsonValue, isRecord: boolean): string[] {
  if (typeof text !== 'string' || !text.includes(secretMask)) return [];
  const embedded = parseJson(text);
  if (!isJsonObject(embedded) || !isWithinDepth(embedded, embeddedDepthMax)) return [];
  if (isRecord) return findMaskedMembers(embedded);
  const found: string[] = [];
  changeSecrets(embedded, (object) => {
    found.push(...findMaskedMembers(object));
    return object;
  });
  return found;
}

function isMask(value: JsonValue | undefined): boolean {
  return typeof value === 'string' && value.trim() === secretMask;
}

/** How the copies of a Secret in annotations are hidden. */
interface Hiding {
  /** The values of the object, if it is a Secret: no annotation may hold one. */
  readonly values: readonly string[] | undefined;
  /** Hides the values of a Secret. */
  readonly hideMembers: (secret: JsonObject) => JsonObject;
  /** Replaces a text that may contain values; undefined to leave it out. */
  readonly whole: string | undefined;
}

/** The same object when there is nothing to hide. */
function hideInAnnotations(object: Manifest, hiding: Hiding): Manifest {
  const metadata = asJsonObject(object.metadata);
  const annotations = asJsonObject(metadata?.['annotations']);
  if (annotations === undefined) return object;
  const hidden = mapMembers(annotations, (key, text) => hideInAnnotation(key, text, hiding));
  if (Object.entries(annotations).every(([key, text]) => text === hidden[key])) return object;
  return { ...object, metadata: { ...metadata, annotations: hidden } };
}

function hideInAnnotation(key: string, text: JsonValue, hiding: Hiding): JsonValue | undefined {
  const { values, hideMembers, whole } = hiding;
  const isRecord = values !== undefined && key === annotationKeys.lastApplied;
  if (typeof text !== 'string') return isRecord ? whole : text;
  const hidden = isRecord ? hideInRecord(text, hiding) : hideEmbedded(text, hideMembers, whole);
  const shows = !spinnakerAnnotation.test(key) && values?.some((value) => hidden?.includes(value));
  return shows ? whole : hidden;
}

/** The record of a Secret's last apply is a Secret, whatever kind it names. */
function hideInRecord(text: string, { hideMembers, whole }: Hiding): string | undefined {
  const applied = parseJson(text);
  if (!isJsonObject(applied) || !isWithinDepth(applied, embeddedDepthMax)) return whole;
  return JSON.stringify(hideMembers(applied));
}

/** A text in which each Secret that its JSON holds is hidden; the same text when there is none. */
function hideEmbedded(
  text: string,
  hideMembers: Hiding['hideMembers'],
  whole: string | undefined,
): string | undefined {
  if (!/^\s*[[{]/.test(text) || !/"kind"\s*:\s*"secret/i.test(text)) return text;
  const embedded = parseJson(text);
  if (embedded === undefined) return text;
  if (!isWithinDepth(embedded, embeddedDepthMax)) return whole;
  const changed = changeSecrets(embedded, hideMembers);
  return changed === embedded ? text : JSON.stringify(changed);
}

/** A value with `change` applied to each Secret in it; the same value when none changed. */
function changeSecrets(value: JsonValue, change: (secret: JsonObject) => JsonObject): JsonValue {
  if (isJsonObject(value) && isSecret(value)) return change(value);
  return changeMembers(value, (member) => changeSecrets(member, change));
}

/** The object with the mask in place of each value of its `data` and `stringData`. */
function maskMembers(object: JsonObject): JsonObject {
  const masked: JsonObject = { ...object };
  for (const member of secretKeys) {
    const values = object[member];
    if (values === undefined || values === null) continue;
    const keys = Object.keys(asJsonObject(values) ?? {});
    masked[member] = isJsonObject(values)
      ? Object.fromEntries(keys.map((key) => [key, secretMask]))
      : secretMask;
  }
  return masked;
}

/** The object without these members. */
function omitKeys(object: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key)));
}
