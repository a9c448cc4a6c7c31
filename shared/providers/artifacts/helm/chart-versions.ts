/** The longest text that is compared as a version, in characters. */
const versionLengthMax = 256;

/** A semantic version: three numbers without leading zeros, and the text after a hyphen. */
interface SemanticVersion {
  readonly numbers: readonly string[];
  readonly prerelease: readonly string[];
}

/**
 * The newest of some versions, as Helm chooses if none is requested: the greatest by semantic versioning, a prerelease only if there is
 * nothing else. Texts that are not versions come last. The first of equal ones; undefined if there is none.
 */
export function findNewestVersion(versions: readonly string[]): string | undefined {
  const ranked = versions.map((text) => ({ text, version: parseVersion(text) }));
  const stable = ranked.filter(({ version }) => version?.prerelease.length === 0);
  const semantic = ranked.filter(({ version }) => version !== undefined);
  const candidates = [stable, semantic, ranked].find(({ length }) => length > 0) ?? [];
  const [first, ...others] = candidates;
  return others.reduce(
    (newest, candidate) => (compare(candidate.version, newest?.version) > 0 ? candidate : newest),
    first,
  )?.text;
}

/** Some versions, newest first by semantic versioning; texts that are not versions come last. */
export function sortNewestFirst(versions: readonly string[]): readonly string[] {
  const ranked = versions.map((text) => ({ text, version: parseVersion(text) }));
  const semantic = ranked.filter(({ version }) => version !== undefined);
  const others = ranked.filter(({ version }) => version === undefined);
  semantic.sort((one, other) => compare(other.version, one.version));
  return [...semantic, ...others].map(({ text }) => text);
}

/** Reads `1.2.3-rc.1+build`; a leading `v` and missing numbers are allowed, as in Helm. */
function parseVersion(text: string): SemanticVersion | undefined {
  if (text.length > versionLengthMax) return undefined;
  const match = /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]*)?$/.exec(text);
  if (match === null) return undefined;
  const [, ...parts] = match;
  const numbers = parts.slice(0, 3).map((part) => trimZeros(part ?? '0'));
  return { numbers, prerelease: parts[3]?.split('.') ?? [] };
}

/** Semantic Versioning 2.0.0, 11: positive if the first is newer. */
function compare(one: SemanticVersion | undefined, other: SemanticVersion | undefined): number {
  if (one === undefined || other === undefined) return 0;
  for (const [index, number] of one.numbers.entries()) {
    const difference = compareNumbers(number, other.numbers[index] ?? '0');
    if (difference !== 0) return difference;
  }
  return comparePrereleases(one.prerelease, other.prerelease);
}

function comparePrereleases(one: readonly string[], other: readonly string[]): number {
  if (one.length === 0 || other.length === 0) return other.length - one.length;
  for (const [index, identifier] of one.entries()) {
    const counterpart = other[index];
    if (counterpart === undefined) return 1;
    const difference = compareIdentifiers(identifier, counterpart);
    if (difference !== 0) return difference;
  }
  return one.length - other.length;
}

function compareIdentifiers(one: string, other: string): number {
  const [isNumber, isOtherNumber] = [one, other].map((text) => /^\d+$/.test(text));
  if (isNumber && isOtherNumber) return compareNumbers(trimZeros(one), trimZeros(other));
  if (isNumber !== isOtherNumber) return isNumber ? -1 : 1;
  return compareTexts(one, other);
}

/** Of any length: a number in an index may have a hundred digits. */
function compareNumbers(one: string, other: string): number {
  return one.length - other.length || compareTexts(one, other);
}

function compareTexts(one: string, other: string): number {
  if (one === other) return 0;
  return one > other ? 1 : -1;
}

function trimZeros(digits: string): string {
  return digits.replace(/^0+(?=\d)/, '');
}
