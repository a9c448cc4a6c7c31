import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  emptyRow,
  goneEntryRetentionMs,
  isLive,
  joinRows,
  mergeRow,
  type PackedRow,
  type RowChange,
} from '#caching/store/packed-row.ts';
import { type Revision, toRevision } from '#caching/store/revision.ts';
import { arbitraryHistory, getLive, type RowHistory } from './row-history.ts';

const nowMs = 1_800_000_000_000;
const v = (number: number): Revision => toRevision(1, String(number));
const put = (key: string, at: number, seenAt = at): RowChange => ({
  key,
  revision: v(at),
  seenAt: v(seenAt),
  value: { at },
});
const remove = (key: string, at: number): RowChange => ({ key, revision: v(at), gone: true });
const merge = (row: PackedRow, changes: readonly RowChange[], atMs = nowMs): PackedRow =>
  mergeRow(row, changes, atMs).row;

/** A history, and its changes as they arrive: in any order, each once or several times. */
const arrivals = arbitraryHistory().chain((history) =>
  fc
    .tuple(
      fc.shuffledSubarray([...history.changes], { minLength: history.changes.length }),
      fc.array(fc.constantFrom(...history.changes), { maxLength: 6 }),
    )
    .chain(([once, again]) =>
      fc.record({
        history: fc.constant(history),
        arriving: fc.shuffledSubarray([...once, ...again], { minLength: once.length + again.length }),
      }),
    ),
);

describe('mergeRow()', () => {
  it('comes to the same entries in whatever order changes arrive, and however often', () => {
    fc.assert(
      fc.property(arrivals, ({ history, arriving }) => {
        const row = arriving.reduce((before, change) => merge(before, [change]), emptyRow);
        expect(getLive(row)).toEqual(history.end);
        expect(getLive(merge(emptyRow, arriving))).toEqual(history.end);
      }),
    );
  });

  it('comes to the same entries when parts of the changes are merged apart, and then joined', () => {
    fc.assert(
      fc.property(arrivals, fc.nat(20), fc.nat(20), ({ history, arriving }, one, other) => {
        const parts = [arriving.slice(0, one), arriving.slice(one, one + other), arriving.slice(one + other)];
        const rows = parts.map((part) => merge(emptyRow, part));
        expect(getLive(joinRows(rows))).toEqual(history.end);
        expect(getLive(joinRows(rows.toReversed()))).toEqual(history.end);
      }),
    );
  });

  it('changes nothing the second time', () => {
    fc.assert(
      fc.property(arrivals, ({ arriving }) => {
        const row = merge(emptyRow, arriving);
        const again = mergeRow(row, arriving, nowMs + 60_000);
        expect(again.changed).toBe(false);
        expect(again.row).toBe(row);
      }),
    );
  });

  it('comes to the same entries when two writers read and write in turns, on condition', () => {
    fc.assert(
      fc.property(arrivals, fc.array(fc.nat(1), { maxLength: 60 }), ({ history, arriving }, turns) => {
        const half = Math.floor(arriving.length / 2);
        const cell = { row: emptyRow, revision: 0 };
        const writers = [startWriter(cell, arriving.slice(0, half)), startWriter(cell, arriving.slice(half))];
        for (const turn of turns) writers[turn]?.step();
        for (const writer of writers) writer.end();
        expect(getLive(cell.row)).toEqual(history.end);
      }),
    );
  });

  it('never goes back in time nor brings back what was deleted, however late changes arrive', () => {
    const pauses = fc.array(fc.integer({ min: 0, max: 2 * goneEntryRetentionMs }), { minLength: 30 });
    fc.assert(
      fc.property(arrivals, pauses, ({ history, arriving }, pausesMs) => {
        let row = emptyRow;
        let atMs = nowMs;
        for (const [index, change] of arriving.entries()) {
          atMs += pausesMs[index] ?? 0;
          row = merge(row, [change], atMs);
          expectNothingOld(row, arriving.slice(0, index + 1));
        }
        expect(getLive(merge(row, history.list, atMs))).toEqual(history.end);
      }),
    );
  });

  it('answers the same row and no change for what is older', () => {
    const row = merge(emptyRow, [put('pod', 5)]);
    expect(mergeRow(row, [put('pod', 4), remove('pod', 4)], nowMs)).toEqual({ row, changed: false });
  });

  it('removes what was put at the same revision, and does not put what was removed at it', () => {
    expect(hasLiveEntries(merge(emptyRow, [put('pod', 5), remove('pod', 5)]))).toBe(false);
    expect(hasLiveEntries(merge(emptyRow, [remove('pod', 5), put('pod', 5)]))).toBe(false);
  });

  it('comes to one value where there are two of one version', () => {
    const other = { ...put('pod', 5), value: 'other' };
    expect(getLive(merge(emptyRow, [put('pod', 5), other]))).toEqual(
      getLive(merge(emptyRow, [other, put('pod', 5)])),
    );
  });

  it('forgets what was removed 15 minutes ago when the row changes, but not up to when that was', () => {
    const gone = merge(emptyRow, [put('pod', 5), remove('pod', 10), put('self', 1)]);
    expect([...gone.entries.keys()]).toEqual(['pod', 'self']);

    const later = merge(gone, [put('self', 2)], nowMs + goneEntryRetentionMs);

    expect([...later.entries.keys()]).toEqual(['self']);
    expect(later.floor).toBe(v(10));
    expect(hasLiveEntries(merge({ ...later, entries: new Map() }, [put('pod', 5)]))).toBe(false);
  });

  it('takes an old entry that it does not know if a later list still has it', () => {
    const row: PackedRow = { entries: new Map(), floor: v(10) };
    expect(getLive(merge(row, [put('old pod', 3, 10)])).size).toBe(0);
    expect(getLive(merge(row, [put('old pod', 3, 11)])).size).toBe(1);
  });

  it('takes everything of a new epoch', () => {
    const row: PackedRow = { ...merge(emptyRow, [put('pod', 500)]), floor: v(400) };
    const revision = toRevision(2, '7');
    const changes = ['pod', 'other'].map((key) => ({ key, revision, seenAt: revision, value: 'new' }));
    expect([...getLive(merge(row, changes)).values()]).toEqual([
      { revision, value: 'new' },
      { revision, value: 'new' },
    ]);
  });
});

/** No entry is older than the last thing that arrived about it, or there at all if that was a removal. */
function expectNothingOld(row: PackedRow, arrived: RowHistory['changes']): void {
  for (const [key, entry] of getLive(row)) {
    const own = arrived.filter((change) => change.key === key);
    const latest = own.reduce((one, other) => (other.revision > one.revision ? other : one));
    expect(latest).toMatchObject({ revision: entry.revision, value: expect.anything() });
  }
}

/** A writer with changes to make one by one, who at each step reads, or writes if nobody wrote since. */
function startWriter(cell: { row: PackedRow; revision: number }, changes: readonly RowChange[]) {
  const left = [...changes];
  let seen: { row: PackedRow; revision: number } | undefined;
  const step = (): void => {
    const [change] = left;
    if (change === undefined) return;
    if (seen === undefined) {
      seen = { ...cell };
      return;
    }
    if (seen.revision === cell.revision) {
      Object.assign(cell, { row: merge(seen.row, [change]), revision: cell.revision + 1 });
      left.shift();
    }
    seen = undefined;
  };
  return {
    step,
    end() {
      while (left.length > 0) step();
    },
  };
}

function hasLiveEntries({ entries }: PackedRow): boolean {
  return [...entries.values()].some(isLive);
}
