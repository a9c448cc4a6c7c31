import { toCanonicalKey } from './spring-config.ts';

/** Characters of a key that are compared and shown: no option of any configuration is longer. */
export const keyLengthMax = 64;

/**
 * The known key that a misspelt one was probably meant to be: the nearest one in Spring's canonical spelling, if less than half of the
 * longer word would have to change. Undefined when none is that near.
 */
export function findNearestKey(key: string, known: readonly string[]): string | undefined {
  if (key.length > keyLengthMax) return undefined;
  const word = toCanonicalKey(key);
  const found = known
    .map((candidate) => ({ candidate, other: toCanonicalKey(candidate) }))
    .map(({ candidate, other }) => ({
      candidate,
      distance: getEditDistance(word, other),
      length: Math.max(word.length, other.length),
    }))
    .filter(({ distance, length }) => distance * 2 < length)
    .sort((one, other) => one.distance - other.distance);
  return found[0]?.candidate;
}

/** The sentence about an unknown key, with the nearest known one. @param path the place of the key. */
export function describeUnknownKey(path: string, key: string, known: readonly string[]): string {
  const nearest = findNearestKey(key, known);
  const suggestion = nearest === undefined ? '' : `: did you mean '${nearest}'?`;
  return `${path}: unknown, and of no effect${suggestion}`;
}

/** Letters to insert, remove or replace to turn one word into the other (Levenshtein). Takes the product of their lengths. */
export function getEditDistance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const letter of one) {
    const next = [(row[0] ?? 0) + 1];
    for (let index = 1; index <= other.length; index += 1) {
      const replaced = (row[index - 1] ?? 0) + (letter === other[index - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[index] ?? 0) + 1, (next[index - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[other.length] ?? 0;
}
