import { type NameAttribute, parseDistinguishedName } from '#core/distinguished-name.ts';

/** The subject of a certificate: the attributes of its distinguished name, in the order of the text, whichever part they are in. */
export type SubjectName = readonly NameAttribute[];

/** Reads a distinguished name. @returns undefined for anything else */
export function parseSubjectName(text: string): SubjectName | undefined {
  return parseDistinguishedName(text)?.flat();
}

/** Whether two names are the same: attributes without case, values letter by letter, from the country or from the common name on. */
export function isSameSubject(one: SubjectName, other: SubjectName): boolean {
  const wanted = toKey(other);
  return toKey(one) === wanted || toKey(one.toReversed()) === wanted;
}

/** The common name; undefined when there is none, or more than one. */
export function findCommonName(subject: SubjectName): string | undefined {
  const names = subject.filter(({ attribute }) => attribute === 'CN');
  return names.length === 1 ? names[0]?.value : undefined;
}

function toKey(subject: SubjectName): string {
  return JSON.stringify(subject.map(({ attribute, value }) => [attribute, value]));
}
