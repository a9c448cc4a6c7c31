import fc from 'fast-check';
import type { PackedRow, RowChange, RowEntry } from '#caching/store/packed-row.ts';
import { isLive } from '#caching/store/packed-row.ts';
import { type Revision, toRevision } from '#caching/store/revision.ts';

/** What a cluster went through: the changes in the order in which they happened, and what there is at its end. */
export interface RowHistory {
  readonly changes: readonly RowChange[];
  /** Live entries at the end: key, revision and value. */
  readonly end: ReadonlyMap<string, RowEntry>;
  /** What a list at the end would tell: every entry as it is, or that it is gone. */
  readonly list: readonly RowChange[];
}

const keys = ['self', 'pod a', 'pod b', '__proto__'];

const happening = fc.record({
  key: fc.constantFrom(...keys),
  isGone: fc.boolean(),
  /** How much later it was still seen to be so, as a part of the time until it changed. */
  seen: fc.double({ min: 0, max: 0.99, noNaN: true }),
});

/**
 * Histories of a few entries that come and go.
 *
 * @param toValue what an entry holds from the n-th happening on
 */
export function arbitraryHistory(toValue = (index: number): string => `value ${index}`) {
  return fc.array(happening, { minLength: 1, maxLength: 14 }).map((happenings): RowHistory => {
    const step = 10;
    const last = (happenings.length + 1) * step;
    const changes = happenings.map(({ key, isGone, seen }, index): RowChange => {
      const at = (index + 1) * step;
      if (isGone) return { key, revision: revision(at), gone: true };
      const next = happenings.findIndex((other, later) => later > index && other.key === key);
      const until = next === -1 ? last : (next + 1) * step;
      const seenAt = revision(at + Math.floor((until - at) * seen));
      return { key, revision: revision(at), seenAt, value: toValue(index) };
    });
    const end = new Map<string, RowEntry>();
    for (const change of changes) {
      if ('gone' in change) end.delete(change.key);
      else end.set(change.key, { revision: change.revision, value: change.value });
    }
    return { changes, end, list: keys.map((key) => toListed(key, end.get(key), revision(last))) };
  });
}

/** The live entries of a row. */
export function getLive({ entries }: PackedRow): Map<string, RowEntry> {
  return new Map([...entries].filter(([, entry]) => isLive(entry)));
}

function toListed(key: string, entry: RowEntry | undefined, seenAt: Revision): RowChange {
  if (entry === undefined || !isLive(entry)) return { key, revision: seenAt, gone: true };
  return { key, revision: entry.revision, seenAt, value: entry.value };
}

function revision(number: number): Revision {
  return toRevision(1, String(number));
}
