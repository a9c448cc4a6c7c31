import { isDeepStrictEqual } from 'node:util';
import type { V1Service } from '@kubernetes/client-node';
import { FailedOperationError, InvalidInputError } from '#core/errors.ts';
import { asString, getPath, isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import type { Manifest } from '../api/manifest.ts';
import { asUnchecked } from '../api/unchecked.ts';
import type { KindRegistry } from '../kinds/index.ts';
import { type FullName, parseFullName, toKindKey } from '../kinds/name.ts';
import { annotateObject, findTemplateMetadata } from './annotate.ts';
import {
  annotationKeys,
  hasAnnotation,
  parseJson,
  readAnnotations,
  readListAnnotation,
  type TextMap,
} from './annotations.ts';
import { changeObject } from './edit.ts';
import { type Coordinates, readCoordinates, readFullName } from './identity.ts';

/** The load balancers (`service web`) that a workload is annotated with; none if the annotation cannot be read. */
export function readLoadBalancers(manifest: Manifest): readonly string[] {
  return readListAnnotation(manifest, annotationKeys.loadBalancers);
}

/**
 * The same, for callers that act on it: an unreadable annotation must not count as none, or traffic goes to the wrong place.
 *
 * @throws InvalidInputError unless the annotation is a JSON array of texts, empty, or absent.
 */
export function parseLoadBalancers(manifest: Manifest): readonly string[] {
  const text = readAnnotations(manifest)[annotationKeys.loadBalancers] ?? '';
  const value = text.trim() === '' ? [] : parseJson(text);
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
  throw new InvalidInputError(
    `${readFullName(manifest)}: annotation ${annotationKeys.loadBalancers}: expected a JSON array such as ["service web"]`,
  );
}

/**
 * The workload with its load balancers recorded; unchanged if there are none.
 *
 * @throws InvalidInputError if it is already annotated with others.
 */
export function annotateLoadBalancers(manifest: Manifest, loadBalancers: readonly string[]): Manifest {
  if (loadBalancers.length === 0) return manifest;
  if (!hasAnnotation(manifest, annotationKeys.loadBalancers)) {
    return annotateObject(manifest, annotationKeys.loadBalancers, JSON.stringify(loadBalancers));
  }
  const present = parseLoadBalancers(manifest);
  if (isDeepStrictEqual(present, [...loadBalancers])) return manifest;
  throw new InvalidInputError(
    `${readFullName(manifest)} is annotated with the load balancers ${formatList(present)}, ` +
      `but the request names ${formatList(loadBalancers)}`,
  );
}

/**
 * Reads the name of a load balancer, as in `service web`.
 *
 * @throws InvalidInputError unless it is a kind and a name, and of a kind that balances load.
 */
export function parseLoadBalancer(text: string, registry: KindRegistry): FullName {
  const parsed = parseFullName(text);
  if (registry.find(parsed.kind).capabilities.has('loadBalances')) return parsed;
  throw new InvalidInputError(
    `'${text}' is no load balancer: a ${parsed.kind} does not balance load, a service does`,
  );
}

/** The manifest with these coordinates among those of a request. */
export function findManifest(manifests: readonly Manifest[], coordinates: Coordinates): Manifest | undefined {
  const index = indexes.get(manifests) ?? indexManifests(manifests);
  indexes.set(manifests, index);
  return index.get(toKey(coordinates));
}

/** The first manifest of each coordinates, for each searched list of manifests: each workload searches for its services. */
const indexes = new WeakMap<readonly Manifest[], ReadonlyMap<string, Manifest>>();

function indexManifests(manifests: readonly Manifest[]): ReadonlyMap<string, Manifest> {
  return new Map(manifests.toReversed().map((manifest) => [toKey(readCoordinates(manifest)), manifest]));
}

function toKey({ kind, namespace, name }: Coordinates): string {
  return JSON.stringify([toKindKey(kind), namespace, name]);
}

/**
 * The workload with the labels that a service selects, on its pod template if it has one. Its own selector is left
 * alone.
 *
 * @throws FailedOperationError for a service that selects nothing or that Spinnaker cannot read, and for a workload that has
 *   one of the labels already: it would get traffic beyond Spinnaker's control.
 */
export function attachService(target: Manifest, service: Manifest): Manifest {
  const selector = readServiceSelector(service);
  const path = getLabelsPath(target);
  const labels = getPath(target, ...path);
  const taken = Object.keys(selector).filter((key) => hasMember(labels, key));
  if (taken.length > 0) {
    throw new FailedOperationError(
      `${readFullName(target)} has the labels ${formatList(taken)} already, by which ${readFullName(service)} ` +
        'selects: Spinnaker must add them itself to turn traffic on and off',
    );
  }
  return changeObject(target, path, (present) => ({ ...present, ...selector }));
}

/** Label changes that load balancers require of their targets: a text to set the label, null to remove it. */
export type LabelChanges = { readonly [key: string]: string | null };

/**
 * All labels that put pods behind services; if two services conflict, the later one wins.
 *
 * @throws FailedOperationError as `readServiceSelector` does.
 */
export function listEnablingLabels(services: readonly Manifest[]): LabelChanges {
  return Object.assign({}, ...services.map(readServiceSelector));
}

/**
 * The labels that keep pods from being behind services, whatever their values.
 *
 * @throws FailedOperationError as `readServiceSelector` does.
 */
export function listDisablingLabels(services: readonly Manifest[]): LabelChanges {
  const keys = services.flatMap((service) => Object.keys(readServiceSelector(service)));
  return Object.fromEntries(keys.map((key) => [key, null]));
}

/** The JSON merge patch that changes a workload's or pod's labels; undefined if they are already as wanted. */
export function createLabelPatch(target: Manifest, wanted: LabelChanges): JsonObject | undefined {
  const path = getLabelsPath(target);
  const labels = getPath(target, ...path);
  const changes = Object.entries(wanted).filter(
    ([key, value]) => (hasMember(labels, key) ? getPath(labels, key) : null) !== value,
  );
  if (changes.length === 0) return undefined;
  return changeObject({}, path, () => Object.fromEntries(changes));
}

/**
 * The labels a service selects pods by.
 *
 * @throws FailedOperationError if it is not of `v1`, or has no selector.
 */
export function readServiceSelector(service: Manifest): TextMap {
  const { apiVersion, spec } = asUnchecked<V1Service>(service);
  if (apiVersion !== 'v1') {
    const version = asString(apiVersion) ?? 'none';
    throw new FailedOperationError(`${readFullName(service)} has apiVersion ${version}: expected v1`);
  }
  const selector = spec?.selector;
  const entries = isJsonObject(selector) ? Object.entries(selector) : [];
  if (entries.length === 0) {
    throw new FailedOperationError(
      `${readFullName(service)} has no selector: it cannot be given pods by labels`,
    );
  }
  return Object.fromEntries(entries.map(([key, value]) => [key, String(value)]));
}

/** Where the labels of a workload's pods are: on its pod template, or on itself. */
function getLabelsPath(target: Manifest): readonly string[] {
  return [...(findTemplateMetadata(target) ?? ['metadata']), 'labels'];
}

/** Whether `object` is an object with a member `key`. */
function hasMember(object: JsonValue | undefined, key: string): boolean {
  return isJsonObject(object) && Object.hasOwn(object, key);
}

/** Texts for a message. */
function formatList(texts: readonly string[]): string {
  return texts.length === 0 ? 'none' : texts.join(', ');
}
