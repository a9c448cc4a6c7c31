declare const brand: unique symbol;

/**
 * The revision of cached data: the epoch of its cluster and a resource version in it, as one text of fixed width, so that revisions compare
 * as texts, here and in the store: `0000000001.0000000000000004711`.
 */
export type Revision = string & { readonly [brand]: true };

const epochMax = 2 ** 31;
const epochDigits = 10;
const resourceVersionMax = 2n ** 63n;
const resourceVersionDigits = 19;
const revisionLength = epochDigits + 1 + resourceVersionDigits;

/**
 * The revision of a cluster's `resourceVersion`.
 *
 * @param epoch epoch of the account's cluster, from 0 to 2^31: it rises when the account gets another cluster, or its resource versions go
 *   backwards.
 * @param resourceVersion decimal digits, from 0 to 2^63.
 * @throws RangeError when one of them is invalid.
 */
export function toRevision(epoch: number, resourceVersion: string): Revision {
  if (!Number.isInteger(epoch) || epoch < 0 || epoch > epochMax) {
    throw new RangeError(`epoch: expected a whole number from 0 to 2^31, got ${epoch}`);
  }
  if (!/^\d{1,40}$/.test(resourceVersion) || BigInt(resourceVersion) > resourceVersionMax) {
    throw new RangeError(
      `resourceVersion: expected decimal digits up to 2^63, got ${JSON.stringify(resourceVersion)}`,
    );
  }
  const digits = BigInt(resourceVersion).toString().padStart(resourceVersionDigits, '0');
  return `${String(epoch).padStart(epochDigits, '0')}.${digits}` as Revision;
}

/**
 * Whether a value looks like a revision: a cheap check, as a store reads thousands. The digits may be followed by a character that sorts it
 * after that revision and before the next one, as in `0000000001.0000000000000004711~`: earlier releases wrote such revisions.
 */
export function isRevision(value: unknown): value is Revision {
  if (typeof value !== 'string' || value.length < revisionLength || value[epochDigits] !== '.') return false;
  return value.length === revisionLength || value[revisionLength] === '~';
}

/** The parts of a revision. @throws RangeError when the text is no revision. */
export function parseRevision(revision: string): { epoch: number; resourceVersion: string } {
  const [, epoch = '', digits = ''] = /^(\d{10})\.(\d{19})$/.exec(revision) ?? [];
  if (digits === '') throw new RangeError(`expected a revision, got ${JSON.stringify(revision)}`);
  return { epoch: Number(epoch), resourceVersion: BigInt(digits).toString() };
}
