declare const brand: unique symbol;

/**
 * The revision of cached data: the epoch of its account and a position in it, as one text of fixed width, so that revisions compare
 * as texts, here and in the store: `0000000001.0000000000000004711`.
 */
export type Revision = string & { readonly [brand]: true };

const epochMax = 2 ** 31;
const epochDigits = 10;
const positionMax = 2n ** 63n;
const positionDigits = 19;
const revisionLength = epochDigits + 1 + positionDigits;

/**
 * The revision of a position: any number of the platform that grows with its changes, such as a version, or the time of a read.
 *
 * @param epoch epoch of the account, from 0 to 2^31: it rises when the account gets another platform, or its positions go backwards.
 * @param position decimal digits, from 0 to 2^63.
 * @throws RangeError when one of them is invalid.
 */
export function toRevision(epoch: number, position: string): Revision {
  if (!Number.isInteger(epoch) || epoch < 0 || epoch > epochMax) {
    throw new RangeError(`epoch: expected a whole number from 0 to 2^31, got ${epoch}`);
  }
  if (!/^\d{1,40}$/.test(position) || BigInt(position) > positionMax) {
    throw new RangeError(`position: expected decimal digits up to 2^63, got ${JSON.stringify(position)}`);
  }
  const digits = BigInt(position).toString().padStart(positionDigits, '0');
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
export function parseRevision(revision: string): { epoch: number; position: string } {
  const [, epoch = '', digits = ''] = /^(\d{10})\.(\d{19})$/.exec(revision) ?? [];
  if (digits === '') throw new RangeError(`expected a revision, got ${JSON.stringify(revision)}`);
  return { epoch: Number(epoch), position: BigInt(digits).toString() };
}
