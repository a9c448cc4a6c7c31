import { InvalidInputError } from '#core/errors.ts';
import { findKindProblem, findNameProblem, quoteName } from '../api/names.ts';
import { builtInKinds } from './table.ts';

/**
 * API groups of Kubernetes whose kinds Spinnaker names without the group. `discovery.k8s.io`, `gateway.networking.k8s.io`
 * and others are missing on purpose: Spinnaker names their kinds with the group (`EndpointSlice.discovery.k8s.io`).
 */
const nativeGroups: ReadonlySet<string> = new Set([
  '',
  'core',
  'batch',
  'apps',
  'extensions',
  'storage.k8s.io',
  'apiextensions.k8s.io',
  'apiregistration.k8s.io',
  'autoscaling',
  'admissionregistration.k8s.io',
  'policy',
  'scheduling.k8s.io',
  'settings.k8s.io',
  'authorization.k8s.io',
  'authentication.k8s.io',
  'rbac.authorization.k8s.io',
  'certificates.k8s.io',
  'networking.k8s.io',
]);

/** Names that have a canonical spelling, but no row in the table. */
const namesOnly = ['none', 'csiDriver', 'csiNode'];

/** Canonical spelling by lower-case name or alias. */
const canonicalNames: ReadonlyMap<string, string> = new Map([
  ...namesOnly.map((name) => [name.toLowerCase(), name] as const),
  ...builtInKinds.flatMap(({ name, aliases }) =>
    [name, ...aliases].map((spelling) => [spelling.toLowerCase(), name] as const),
  ),
]);

/** A kind's name and, for kinds outside Kubernetes' own groups, its API group. */
export interface KindParts {
  readonly name: string;
  readonly group?: string;
}

/** A kind and the name of one object of it. */
export interface FullName {
  readonly kind: string;
  readonly name: string;
}

/**
 * Spinnaker's name of a kind in any spelling: `Deployment`, `deploy` and `deployment.apps` are `deployment`; `CronTab.stable.example.com`
 * stays as it is. Empty text is the kind `none`.
 */
export function parseKind(text: string): string {
  const { name, group } = splitKind(text);
  return toKindName(name, group ?? '');
}

/** Spinnaker's name of the kind of objects with this `apiVersion` and `kind`. */
export function getKindName(apiVersion: string, kind: string): string {
  const slash = apiVersion.indexOf('/');
  return toKindName(kind, slash < 0 ? '' : apiVersion.slice(0, slash));
}

/** Splits a kind's name at its first dot. */
export function splitKind(kind: string): KindParts {
  const dot = kind.indexOf('.');
  return dot < 0 ? { name: kind } : { name: kind.slice(0, dot), group: kind.slice(dot + 1) };
}

/** Whether two names mean the same kind: aliases and case do not matter. */
export function isSameKind(one: string, other: string): boolean {
  return toKindKey(one) === toKindKey(other);
}

/** The same text for every spelling of a kind, for use as a map's key. Not for display. */
export function toKindKey(kind: string): string {
  return parseKind(kind).toLowerCase();
}

/**
 * Reads `kind name`, Spinnaker's name of an object, as in `deployment web`.
 *
 * @throws InvalidInputError unless it is exactly two words separated by a space, and Kubernetes allows both.
 */
export function parseFullName(text: string): FullName {
  const [kind, name, ...more] = text.split(' ');
  if (!kind || !name || more.length > 0) {
    throw new InvalidInputError(
      `'${quoteName(text)}' is not an object's name of the form 'kind name', as in 'deployment web'`,
    );
  }
  const problem = findKindProblem(kind) ?? findNameProblem(name);
  if (problem !== undefined) {
    throw new InvalidInputError(`'${quoteName(text)}' is not an object's name: ${problem}`);
  }
  return { kind: parseKind(kind), name };
}

/** Writes `kind name`, the inverse of `parseFullName` for Spinnaker's names of kinds. */
export function formatFullName(kind: string, name: string): string {
  return `${kind} ${name}`;
}

/** The canonical name of a native kind, `name.group` for any other. */
function toKindName(name: string, group: string): string {
  if (!nativeGroups.has(group.toLowerCase())) return `${name}.${group}`;
  if (name === '') return 'none';
  return canonicalNames.get(name.toLowerCase()) ?? name;
}
