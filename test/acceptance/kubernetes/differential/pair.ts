import {
  asJsonArray,
  asJsonObject,
  getPath,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '#core/json.ts';
import type { Manifest } from '#providers/kubernetes/api/manifest.ts';

/** Stands in manifests for the namespace of the writer: kubectl and Busdriver write to one each. */
export const namespacePlaceholder = 'the-namespace';

/** Stands in manifests for the name of the object; every pair has one of its own. */
export const namePlaceholder = 'the-object';

export const verbs = {
  apply: ['apply'],
  serverSide: ['apply', '--server-side'],
  forceConflicts: ['apply', '--server-side', '--force-conflicts'],
  create: ['create'],
  replace: ['replace'],
} as const;

export type Verb = keyof typeof verbs;

/** A request of somebody else, between the two writes. */
export interface ForeignRequest {
  readonly method: 'PATCH' | 'POST' | 'PUT' | 'DELETE';
  /** Path and query. PATCH sends a JSON merge patch. */
  readonly target: string;
  readonly body?: JsonObject;
}

/** A manifest and what becomes of it, written one after the other. */
export interface Pair {
  readonly title: string;
  readonly first: Manifest;
  /** Default `apply`. */
  readonly firstVerb?: Verb;
  readonly between?: readonly ForeignRequest[];
  /** Written twice, the second time unchanged. */
  readonly second: Manifest;
  /** Default `apply`. */
  readonly secondVerb?: Verb;
}

export function namePairs(pairs: readonly Pair[], prefix: string): (Pair & { readonly name: string })[] {
  return pairs.map((pair, index) => {
    const name = `${prefix}${String(index).padStart(3, '0')}`;
    return { ...JSON.parse(JSON.stringify(pair).replaceAll(namePlaceholder, name)), name };
  });
}

/** A copy with a namespace's name wherever the placeholder stands. */
export function intoNamespace<Value>(value: Value, namespace: string): Value {
  return JSON.parse(JSON.stringify(value).replaceAll(namespacePlaceholder, namespace));
}

/** The reverse of {@link intoNamespace}. */
export function outOfNamespace(value: JsonValue, namespace: string): JsonValue {
  return JSON.parse(JSON.stringify(value).replaceAll(namespace, namespacePlaceholder));
}

/** Members whose values the API server chooses. */
const chosenMembers = new Set([
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'deletionTimestamp',
  'time',
  'clusterIP',
  'clusterIPs',
  'nodePort',
  'healthCheckNodePort',
  'controller-uid',
  'batch.kubernetes.io/controller-uid',
]);

/** Members that controllers write at a time of their own. */
const controllerMembers = new Set(['status', 'autoscaling.alpha.kubernetes.io/conditions']);

/**
 * What two objects that were written alike have in common: without what controllers write, and with the values that
 * the API server chooses reduced to their presence.
 */
export function normalizeObject(object: Manifest, namespace: string): JsonValue {
  const { managedFields, ...metadata } = asJsonObject(object.metadata) ?? {};
  const owners = asJsonArray(managedFields)
    .filter(
      (entry) => getPath(entry, 'manager') !== 'kube-controller-manager' && !getPath(entry, 'subresource'),
    )
    .sort((left, right) => (getOwner(left) < getOwner(right) ? -1 : 1)); // they come sorted by time
  const comparable = hideChosen({ ...object, metadata: { ...metadata, managedFields: owners } });
  return outOfNamespace(comparable, namespace);
}

function getOwner(entry: JsonValue): string {
  return `${getPath(entry, 'manager')} ${getPath(entry, 'operation')} ${getPath(entry, 'apiVersion')}`;
}

function hideChosen(value: JsonValue): JsonValue {
  if (typeof value === 'string') return value.replace(/^kube-api-access-\w+$/, '<volume>');
  if (Array.isArray(value)) return value.map(hideChosen);
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).filter(([key]) => !controllerMembers.has(key));
  const isHidden = (key: string, member: JsonValue) => chosenMembers.has(key) && !isJsonObject(member);
  return Object.fromEntries(
    members.map(([key, member]) => [key, isHidden(key, member) ? `<${key}>` : hideChosen(member)]),
  );
}
