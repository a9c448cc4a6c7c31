import { InvalidInputError } from '#core/errors.ts';
import { describeInput } from '#settings/coerce.ts';

/**
 * The rules for Kubernetes' names in everything from outside: operations, live reads, settings, and paths of an API server. A name with a
 * slash, or with text that becomes a slash when decoded again, would address something else: `service x/proxy` makes the API server open a
 * connection, `namespace vault/status` deletes the whole namespace.
 */

/** Longest name of an object, characters: that of a DNS subdomain, which Kubernetes requires for nearly all kinds. */
export const objectNameLengthMax = 253;

/** Longest name of a namespace, characters (Kubernetes: a DNS label). */
export const namespaceLengthMax = 63;

/** Longest name of a container, characters (Kubernetes: a DNS label). */
export const containerNameLengthMax = 63;

/** Longest kind with its group, `CronTab.stable.example.com`, characters: a DNS label, a dot, a DNS subdomain. */
export const kindLengthMax = 317;

/** Longest apiVersion, `stable.example.com/v1`, characters: a DNS subdomain, a slash, a DNS label. */
export const apiVersionLengthMax = 317;

/** How much of a refused name a message quotes, characters. */
const quotedLengthMax = 100;

/** Control characters, lone surrogates, and line ends. */
const unprintable = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u;
const word = /^[A-Za-z0-9][\w.-]*$/;

/**
 * What is wrong with a name of an object, in words that begin with `expected`; undefined if nothing is. The rule is Kubernetes' for path
 * segments, which RBAC's names (`system:node`) meet, too: no slash, no percent sign, not `.` or `..`.
 */
export function findNameProblem(name: string): string | undefined {
  return findSegmentProblem(name, objectNameLengthMax);
}

/** The same for the name of a namespace, which is shorter. */
export function findNamespaceProblem(namespace: string): string | undefined {
  return findSegmentProblem(namespace, namespaceLengthMax);
}

/** The same for the name of a container. */
export function findContainerProblem(container: string): string | undefined {
  return findSegmentProblem(container, containerNameLengthMax);
}

/** What is wrong with a kind in any spelling (`deploy`, `CronTab.stable.example.com`); undefined if nothing is. */
export function findKindProblem(kind: string): string | undefined {
  if (kind.length > kindLengthMax) return describeLength(kind, kindLengthMax);
  return word.test(kind) ? undefined : 'expected a kind of letters, digits, dots and dashes';
}

/** What is wrong with an apiVersion (`v1`, `apps/v1`); undefined if nothing is. */
export function findApiVersionProblem(apiVersion: string): string | undefined {
  if (apiVersion.length > apiVersionLengthMax) return describeLength(apiVersion, apiVersionLengthMax);
  const parts = apiVersion.split('/');
  return parts.length <= 2 && parts.every((part) => word.test(part))
    ? undefined
    : "expected an apiVersion such as 'v1' or 'apps/v1'";
}

/**
 * What is wrong with a value of any type that should be a name, in words; undefined if nothing is, or if there is no value.
 *
 * @param findProblem one of the rules above; it is not called for the empty string, which is no value.
 */
export function findTextProblem(
  value: unknown,
  findProblem: (text: string) => string | undefined,
): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  return typeof value === 'string' ? findProblem(value) : `expected a string, got ${describeInput(value)}`;
}

/**
 * Checks the name of an object or namespace one last time before it goes into a path, and returns it.
 *
 * @throws InvalidInputError for a name that addresses something else.
 */
export function checkName(name: string): string {
  const problem = findNameProblem(name);
  if (problem === undefined) return name;
  throw new InvalidInputError(`the name of a Kubernetes object must not be "${quoteName(name)}": ${problem}`);
}

/** A text from outside as messages quote it: its beginning, without line ends. */
export function quoteName(text: string): string {
  const start = text.slice(0, quotedLengthMax).replaceAll(new RegExp(unprintable, 'gu'), '\u{fffd}');
  return text.length > quotedLengthMax ? `${start}…` : start;
}

function findSegmentProblem(name: string, lengthMax: number): string | undefined {
  if (name === '') return 'expected a name, got an empty string';
  if (name.length > lengthMax) return describeLength(name, lengthMax);
  if (name === '.' || name === '..') return "expected a name other than '.' and '..'";
  if (/[/%]/.test(name)) return "expected a name without '/' and '%'";
  return unprintable.test(name) ? 'expected a name without control characters' : undefined;
}

function describeLength(text: string, lengthMax: number): string {
  return `expected at most ${lengthMax} characters, got ${text.length}`;
}
