import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  hasNoNames,
  listAllNames,
  listNames,
  noNames,
  type RecordedNames,
  recordNames,
  recordUnused,
  unusedNameRetentionMs,
} from '#caching/store/recorded-names.ts';

const nowMs = 1_800_000_000_000;
const note = (recorded: RecordedNames, ...clusters: string[]) => recordNames(recorded, { clusters });
const prune = (recorded: RecordedNames, atMs: number, ...clusters: string[]) =>
  recordUnused(recorded, { clusters }, atMs);

describe('names in use', () => {
  it('are recorded once', () => {
    const first = note(noNames, 'b', 'a');
    expect(first.changed).toBe(true);
    expect(listNames(first.recorded, 'clusters')).toEqual(['a', 'b']);
    expect(note(first.recorded, 'a')).toEqual({ recorded: first.recorded, changed: false, left: {} });
    expect(listNames(first.recorded, 'namespaces')).toEqual([]);
  });

  it('are not listed from when they are not used, and dropped five minutes later', () => {
    const { recorded } = note(noNames, 'a', 'b');
    const unused = prune(recorded, nowMs, 'b');
    expect(unused.changed).toBe(true);
    expect(listNames(unused.recorded, 'clusters')).toEqual(['b']);
    expect(listAllNames(unused.recorded, 'clusters')).toEqual(['a', 'b']);

    expect(prune(unused.recorded, nowMs + unusedNameRetentionMs - 1, 'b').changed).toBe(false);
    const dropped = prune(unused.recorded, nowMs + unusedNameRetentionMs, 'b');
    expect(listAllNames(dropped.recorded, 'clusters')).toEqual(['b']);
    expect(hasNoNames(dropped.recorded)).toBe(false);
  });

  it('are listed again once they are recorded, or found to be used', () => {
    const { recorded } = prune(note(noNames, 'a').recorded, nowMs);
    expect(listNames(note(recorded, 'a').recorded, 'clusters')).toEqual(['a']);
    expect(listNames(prune(recorded, nowMs + 2 * unusedNameRetentionMs, 'a').recorded, 'clusters')).toEqual([
      'a',
    ]);
  });

  it('are none when the last one is dropped', () => {
    const unused = prune(note(noNames, 'a').recorded, nowMs);
    expect(hasNoNames(prune(unused.recorded, nowMs + unusedNameRetentionMs).recorded)).toBe(true);
  });

  it('may be any text', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.oneof(fc.string(), fc.constant('__proto__'))), (names) => {
        expect(new Set(listNames(note(noNames, ...names).recorded, 'clusters'))).toEqual(new Set(names));
      }),
    );
  });
});
