import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  hasNoNames,
  listAllNames,
  listNames,
  type NotedNames,
  noNames,
  noteNames,
  noteUnused,
  unusedNameRetentionMs,
} from '../../../../shared/core/cache/noted-names.ts';

const nowMs = 1_800_000_000_000;
const note = (noted: NotedNames, ...clusters: string[]) => noteNames(noted, { clusters });
const prune = (noted: NotedNames, atMs: number, ...clusters: string[]) =>
  noteUnused(noted, { clusters }, atMs);

describe('names in use', () => {
  it('are noted once', () => {
    const first = note(noNames, 'b', 'a');
    expect(first.changed).toBe(true);
    expect(listNames(first.noted, 'clusters')).toEqual(['a', 'b']);
    expect(note(first.noted, 'a')).toEqual({ noted: first.noted, changed: false, left: {} });
    expect(listNames(first.noted, 'namespaces')).toEqual([]);
  });

  it('are not listed from when they are not used, and dropped five minutes later', () => {
    const { noted } = note(noNames, 'a', 'b');
    const unused = prune(noted, nowMs, 'b');
    expect(unused.changed).toBe(true);
    expect(listNames(unused.noted, 'clusters')).toEqual(['b']);
    expect(listAllNames(unused.noted, 'clusters')).toEqual(['a', 'b']);

    expect(prune(unused.noted, nowMs + unusedNameRetentionMs - 1, 'b').changed).toBe(false);
    const dropped = prune(unused.noted, nowMs + unusedNameRetentionMs, 'b');
    expect(listAllNames(dropped.noted, 'clusters')).toEqual(['b']);
    expect(hasNoNames(dropped.noted)).toBe(false);
  });

  it('are listed again once they are noted, or found to be used', () => {
    const { noted } = prune(note(noNames, 'a').noted, nowMs);
    expect(listNames(note(noted, 'a').noted, 'clusters')).toEqual(['a']);
    expect(listNames(prune(noted, nowMs + 2 * unusedNameRetentionMs, 'a').noted, 'clusters')).toEqual(['a']);
  });

  it('are none when the last one is dropped', () => {
    const unused = prune(note(noNames, 'a').noted, nowMs);
    expect(hasNoNames(prune(unused.noted, nowMs + unusedNameRetentionMs).noted)).toBe(true);
  });

  it('may be any text', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.oneof(fc.string(), fc.constant('__proto__'))), (names) => {
        expect(new Set(listNames(note(noNames, ...names).noted, 'clusters'))).toEqual(new Set(names));
      }),
    );
  });
});
