import { type NameAttribute, parseDistinguishedName } from '#core/distinguished-name.ts';

/** Who a certificate is for: the attributes of its distinguished name, in the order of the text, whichever part they stand in. */
export type SubjectName = readonly NameAttribute[];

/** Reads a distinguished name. @returns undefined for what is none */
export function parseSubjectName(text: string): SubjectName | undefined {
  return parseDistinguishedName(text)?.flat();
}

/**
 * Whether two names are the same: attributes without case, values letter by letter. One may begin with the country and the other with
 * the common name, for tools write them either way round.
 */
export function isSameSubject(one: SubjectName, other: SubjectName): boolean {
  const wanted = toKey(other);
  return toKey(one) === wanted || toKey(one.toReversed()) === wanted;
}

/** The common name; undefined when there is none, or several of which nobody can tell which counts. */
export function findCommonName(subject: SubjectName): string | undefined {
  const names = subject.filter(({ attribute }) => attribute === 'CN');
  return names.length === 1 ? names[0]?.value : undefined;
}

function toKey(subject: SubjectName): string {
  return JSON.stringify(subject.map(({ attribute, value }) => [attribute, value]));
}
