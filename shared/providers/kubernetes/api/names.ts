import { InvalidInputError } from '#core/errors.ts';
import { describeInput } from '#settings/coerce.ts';

/**
 * What names of Kubernetes may be, for everything that comes from outside: operations, live reads, settings, and what goes into
 * paths of an API server. A name that holds a slash, or one that becomes a slash when it is decoded once more, would address
 * something else: `service x/proxy` has the API server dial, `namespace vault/status` deletes the whole namespace.
 */

/** Longest name of an object, characters: that of a DNS subdomain, which Kubernetes asks of nearly all kinds. */
export const objectNameLengthMax = 253;

/** Longest name of a namespace, characters (Kubernetes: a DNS label). */
export const namespaceLengthMax = 63;

/** Longest name of a container, characters (Kubernetes: a DNS label). */
export const containerNameLengthMax = 63;

/** Longest kind with its group, `CronTab.stable.example.com`, characters: a DNS label, a dot, a DNS subdomain. */
export const kindLengthMax = 317;

/** Longest apiVersion, `stable.example.com/v1`, characters: a DNS subdomain, a slash, a DNS label. */
export const apiVersionLengthMax = 317;

/** How much of a name that is refused a message quotes, characters. */
const quotedLengthMax = 100;

/** Control characters, halves of characters, and what ends a line. */
const unprintable = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u;
const word = /^[A-Za-z0-9][\w.-]*$/;

/**
 * What is wrong with a name of an object, in words that begin with `expected`; undefined when nothing is. The rule is that of
 * Kubernetes for segments of paths, which RBAC's names (`system:node`) meet, too: no slash, no percent sign, not `.` or `..`.
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

/** What is wrong with a kind, written in any way (`deploy`, `CronTab.stable.example.com`); undefined when nothing is. */
export function findKindProblem(kind: string): string | undefined {
  if (kind.length > kindLengthMax) return describeLength(kind, kindLengthMax);
  return word.test(kind) ? undefined : 'expected a kind of letters, digits, dots and dashes';
}

/** What is wrong with an apiVersion (`v1`, `apps/v1`); undefined when nothing is. */
export function findApiVersionProblem(apiVersion: string): string | undefined {
  if (apiVersion.length > apiVersionLengthMax) return describeLength(apiVersion, apiVersionLengthMax);
  const parts = apiVersion.split('/');
  return parts.length <= 2 && parts.every((part) => word.test(part))
    ? undefined
    : "expected an apiVersion such as 'v1' or 'apps/v1'";
}

/**
 * What is wrong with a value of any type that is to be a name, in words; undefined when nothing is, or nothing is given.
 *
 * @param findProblem one of the rules above; it does not see the empty string, which is none.
 */
export function findTextProblem(
  value: unknown,
  findProblem: (text: string) => string | undefined,
): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  return typeof value === 'string' ? findProblem(value) : `expected a string, got ${describeInput(value)}`;
}

/**
 * Takes a text for the name of an object or namespace, as the last look before it goes into a path.
 *
 * @throws InvalidInputError for what addresses something else.
 */
export function checkName(name: string): string {
  const problem = findNameProblem(name);
  if (problem === undefined) return name;
  throw new InvalidInputError(`the name of a Kubernetes object must not be "${quoteName(name)}": ${problem}`);
}

/** A text from outside as messages quote it: its beginning, with nothing that would end a line. */
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
