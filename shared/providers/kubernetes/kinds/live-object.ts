import type { V1Deployment } from '@kubernetes/client-node';
import { FailedOperationError } from '#core/errors.ts';
import { asJsonObject, asString, type JsonValue } from '#core/json.ts';
import type { Manifest } from '../api/manifest.ts';
import {
  asUnchecked,
  findNumber,
  readList,
  type Unchecked,
  type UncheckedList,
  type UncheckedObject,
} from '../api/unchecked.ts';

/** A controller's statement about an object, with the members that conditions of all kinds have. */
export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

/** A status that may have conditions. */
export interface WithConditions {
  readonly conditions?: UncheckedList<Condition> | null | undefined;
}

/**
 * The status that the controller of an object of type `T` wrote, or undefined before the first one. An empty status counts, and its members
 * are unchecked.
 */
export function findStatus<T extends { status?: unknown }>(
  manifest: Manifest,
): UncheckedObject<NonNullable<T['status']>> | undefined {
  const status = asJsonObject(manifest.status);
  return status && asUnchecked<NonNullable<T['status']>>(status);
}

/** A whole number; 0 if Kubernetes omitted it, as it does with zeros. */
export function readCount(value: JsonValue | undefined): number {
  return findNumber(value) ?? 0;
}

/** `spec.replicas`, 0 when absent. */
export function readDesiredReplicas(manifest: Manifest): number {
  return readCount(asUnchecked<V1Deployment>(manifest).spec?.replicas);
}

/** Whether the controller has seen the newest spec: otherwise the counts in its status refer to an older one. */
export function isGenerationObserved(
  manifest: Manifest,
  { observedGeneration }: { readonly observedGeneration?: JsonValue | undefined },
): boolean {
  const { metadata } = asUnchecked<V1Deployment>(manifest);
  return typeof observedGeneration === 'number' && observedGeneration === metadata?.generation;
}

/** The first condition whose members equal `wanted`, compared without regard to case. */
export function findCondition(
  status: WithConditions | null | undefined,
  wanted: Partial<Condition>,
): UncheckedObject<Condition> | undefined {
  return (
    readList(status?.conditions).find(
      (condition) => asJsonObject(condition) !== undefined && hasMembers(condition, wanted),
    ) ?? undefined
  );
}

/** Why no pods can be created, in the words of the condition `ReplicaFailure`, which a quota or a webhook causes. */
export function findReplicaFailure(status: WithConditions): string | undefined {
  const failure = findCondition(status, { type: 'ReplicaFailure', status: 'True' });
  return failure && describeCondition(failure);
}

/** A condition in its own words: `FailedCreate: pods "web-5c-" is forbidden: exceeded quota: few`. */
export function describeCondition(condition: UncheckedObject<Condition>): string {
  const words = [asString(condition.reason) || asString(condition.type), asString(condition.message)];
  return words.filter(Boolean).join(': ');
}

/** The condition's own message, or `fallback` if it has none. */
export function readMessage(condition: UncheckedObject<Condition>, fallback: string): string {
  return asString(condition.message) || fallback;
}

/**
 * Checks that a workload has the fields from which its status is read.
 *
 * @throws FailedOperationError if its apiVersion is not `apps/v1`.
 */
export function checkAppsV1(manifest: Manifest): void {
  const { apiVersion, kind } = asUnchecked<V1Deployment>(manifest);
  if (apiVersion === 'apps/v1') return;
  const [name, version] = [asString(kind) ?? 'Object', asString(apiVersion) ?? 'none'];
  throw new FailedOperationError(`${name} has apiVersion ${version}: its status can be read at apps/v1 only`);
}

/** True if every member named in `wanted` has that text, ignoring case. */
function hasMembers(condition: Unchecked<Condition>, wanted: Partial<Condition>): boolean {
  const members = ['type', 'status', 'reason', 'message'] as const;
  return members.every(
    (member) =>
      wanted[member] === undefined ||
      asString(condition?.[member])?.toLowerCase() === wanted[member].toLowerCase(),
  );
}
