import { FailedOperationError } from '../../../core/errors.ts';
import { asJsonArray, asJsonObject, asString, getPath, type JsonObject } from '../../../core/json.ts';
import type { Manifest } from '../api/manifest.ts';

/** The status its controller wrote, or undefined before the first one. An empty status is one. */
export function findStatus(manifest: Manifest): JsonObject | undefined {
  return asJsonObject(manifest.status);
}

/** The whole number at `key`; 0 when Kubernetes left it out, as it does with zeros. */
export function readCount(object: JsonObject | undefined, key: string): number {
  return findCount(object, key) ?? 0;
}

/** The number at `key`, or undefined when there is none. */
export function findCount(object: unknown, key: string): number | undefined {
  const value = getPath(object, key);
  return typeof value === 'number' ? value : undefined;
}

/** `spec.replicas`, 0 when absent. */
export function readDesiredReplicas(manifest: Manifest): number {
  return readCount(asJsonObject(manifest.spec), 'replicas');
}

/** Whether the controller has seen the newest spec: the counts in its status speak of an older one otherwise. */
export function isGenerationObserved(manifest: Manifest, status: JsonObject): boolean {
  const observed = status.observedGeneration;
  return typeof observed === 'number' && observed === getPath(manifest, 'metadata', 'generation');
}

/** The first condition whose members equal `wanted`, compared without regard to case. */
export function findCondition(
  status: JsonObject,
  wanted: { readonly [member: string]: string },
): JsonObject | undefined {
  return asJsonArray(status.conditions)
    .map(asJsonObject)
    .find((condition) => condition !== undefined && hasMembers(condition, wanted));
}

/** The condition's own message, or `fallback` where it has none. */
export function readMessage(condition: JsonObject, fallback: string): string {
  return asString(condition.message) || fallback;
}

/**
 * Checks that a workload has the fields its status is read from.
 *
 * @throws FailedOperationError when it is of another apiVersion than `apps/v1`.
 */
export function checkAppsV1(manifest: Manifest): void {
  if (manifest.apiVersion === 'apps/v1') return;
  const kind = asString(manifest.kind) ?? 'Object';
  const version = asString(manifest.apiVersion) ?? 'none';
  throw new FailedOperationError(`${kind} has apiVersion ${version}: its status can be read at apps/v1 only`);
}

/** True when every member named in `wanted` has that text, whatever its case. */
function hasMembers(condition: JsonObject, wanted: { readonly [member: string]: string }): boolean {
  return Object.entries(wanted).every(
    ([member, text]) => asString(condition[member])?.toLowerCase() === text.toLowerCase(),
  );
}
