/** A part of a version: a number, or a word. */
interface Item {
  readonly isNumber: boolean;
  /** The first criterion for numbers and words. Zero is the rank of padding. */
  readonly rank: number;
  /** The second criterion: digits without leading zeros, or a word without a meaning. Empty for others. */
  readonly text: string;
}

/** A version, split into its parts. */
type ParsedVersion = readonly Item[];

/** Whether a version meets a request. */
type VersionConstraint = (version: ParsedVersion) => boolean;

/** Ranks of words with a meaning. Zero is the rank of a version without any. */
const qualifiers: ReadonlyMap<string, number> = new Map([
  ['alpha', -5],
  ['beta', -4],
  ['milestone', -3],
  ['cr', -2],
  ['rc', -2],
  ['snapshot', -1],
  ['', 0],
  ['ga', 0],
  ['final', 0],
  ['release', 0],
  ['sp', 1],
]);

/** The meaning of a single letter right before a digit. */
const abbreviations: ReadonlyMap<string, string> = new Map([
  ['a', 'alpha'],
  ['b', 'beta'],
  ['m', 'milestone'],
]);

/** Words without a meaning come after those with one. */
const wordRank = 2;

/** As the last part, these sort below and above any other. They count as numbers. */
const ends: ReadonlyMap<string, number> = new Map([
  ['min', -1],
  ['max', 1],
]);

/**
 * The greatest matching version, in the generic order of Maven's resolver (Aether). The first of equal ones; undefined if there is none.
 */
export function findGreatestVersion(
  versions: readonly string[],
  isMeant: VersionConstraint,
): string | undefined {
  let greatest: { readonly text: string; readonly version: ParsedVersion } | undefined;
  for (const text of versions) {
    const version = parseVersion(text);
    if (!isMeant(version)) continue;
    if (greatest === undefined || compareVersions(version, greatest.version) > 0) {
      greatest = { text, version };
    }
  }
  return greatest?.text;
}

/** The longest requested version, or ranges, in characters. */
export const constraintLengthMax = 256;

/**
 * Reads a request: a version, which equal versions meet, or ranges such as `[1.0,2.0)`, `(,1.5]`, `[1.2]` and `[1.2.*]`, separated by
 * commas. Undefined if it is neither, or longer than `constraintLengthMax`.
 */
export function parseVersionConstraint(text: string): VersionConstraint | undefined {
  if (text.length > constraintLengthMax) return undefined;
  if (!/^[[(]/.test(text)) {
    const wanted = parseVersion(text);
    return (version) => compareVersions(version, wanted) === 0;
  }
  const ranges = cutRanges(text)?.map(parseRange);
  if (ranges === undefined || !ranges.every((range) => range !== undefined)) return undefined;
  return (version) => ranges.some((isWithin) => isWithin(version));
}

/** Splits `[1,2),[3,4)` into its ranges. */
function cutRanges(text: string): readonly string[] | undefined {
  const ranges = text.match(/[[(][^\])]*[\])]/g) ?? [];
  return ranges.join(',') === text ? ranges : undefined;
}

function parseRange(range: string): VersionConstraint | undefined {
  const [lower = '', upper, ...others] = range.slice(1, -1).split(',');
  if (others.length > 0) return undefined;
  if (upper === undefined) return range === `[${lower}]` ? parseLine(lower) : undefined;
  const [isAbove, isBelow] = [range.startsWith('[') ? 0 : 1, range.endsWith(']') ? 0 : -1];
  const [from, to] = [lower, upper].map((bound) => (bound === '' ? undefined : parseVersion(bound)));
  if (from !== undefined && to !== undefined && compareVersions(from, to) > 0) return undefined;
  return (version) =>
    (from === undefined || compareVersions(version, from) >= isAbove) &&
    (to === undefined || compareVersions(version, to) <= isBelow);
}

/** One version, or all that begin with it: `1.2.*`. */
function parseLine(text: string): VersionConstraint | undefined {
  return text.endsWith('.*')
    ? parseRange(`[${text.slice(0, -1)}min,${text.slice(0, -1)}max]`)
    : parseRange(`[${text},${text}]`);
}

/**
 * Compares two versions: positive if the first is greater. Numbers and words are not compared with each other: where they meet, the version
 * that continues with the same kind of part is compared with padding, so that 1-rc < 1 = 1.0 < 1-sp < 1-x < 1.1.
 */
export function compareVersions(one: ParsedVersion, other: ParsedVersion): number {
  let isNumber = true;
  for (const [index, item] of one.entries()) {
    const counterpart = other[index];
    if (counterpart === undefined) return compareToPadding(one.slice(index));
    if (item.isNumber !== counterpart.isNumber) {
      const [items, sign] = item.isNumber === isNumber ? [one, 1] : [other, -1];
      const run = items.slice(index);
      const end = run.findIndex((next) => next.isNumber !== isNumber);
      return sign * compareToPadding(end === -1 ? run : run.slice(0, end));
    }
    const difference = compareItems(item, counterpart);
    if (difference !== 0) return difference;
    isNumber = item.isNumber;
  }
  return -compareToPadding(other.slice(one.length));
}

/** Splits a version at dots, hyphens and underscores, and between digits and letters. An empty part is a zero. */
export function parseVersion(version: string): ParsedVersion {
  const segments = version.split(/[.\-_]/);
  if (segments.length > 1 && segments.at(-1) === '') segments.pop();
  const runs = segments.map((segment) => segment.match(/\d+|\D+/g) ?? ['0']);
  const items = runs.flatMap((run) => run.map((text, index) => toItem(text, run[index + 1] !== undefined)));
  const last = ends.get(runs.at(-1)?.at(-1)?.toLowerCase() ?? '');
  if (last !== undefined) items[items.length - 1] = { isNumber: true, rank: last, text: '' };
  return trimPadding(items);
}

function toItem(text: string, isBeforeDigit: boolean): Item {
  if (/^\d/.test(text)) return { isNumber: true, rank: 0, text: text.replace(/^0+(?=\d)/, '') };
  const lower = text.toLowerCase();
  const word = (isBeforeDigit && abbreviations.get(lower)) || lower;
  const rank = qualifiers.get(word);
  return { isNumber: false, rank: rank ?? wordRank, text: rank === undefined ? word : '' };
}

/** Drops zeros, and words of their rank, that change nothing: at the end of the numbers before a word, and of all. */
function trimPadding(items: readonly Item[]): ParsedVersion {
  const kept: Item[] = [];
  for (const [index, item] of [...items.entries()].reverse()) {
    const [next, previous] = [kept.at(-1), items[index - 1]];
    const isLastOfItsSort = next === undefined || next.isNumber !== item.isNumber;
    const isSpare = next === undefined || previous?.isNumber === item.isNumber;
    if (index === 0 || !isLastOfItsSort || !isSpare || compareToPadding([item]) !== 0) kept.push(item);
  }
  return kept.reverse();
}

function compareItems(one: Item, other: Item): number {
  if (one.rank !== other.rank) return one.rank - other.rank;
  if (one.isNumber && one.text.length !== other.text.length) return one.text.length - other.text.length;
  if (one.text === other.text) return 0;
  return one.text > other.text ? 1 : -1;
}

/** Compares the rest of a version with one that ends there. */
function compareToPadding(items: ParsedVersion): number {
  const significant = items.find(({ rank, text }) => rank !== 0 || !['', '0'].includes(text));
  return significant === undefined ? 0 : significant.rank || 1;
}
