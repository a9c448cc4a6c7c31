import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseMaxAgeMs, parseStaleIfErrorMs, toFreshnessHeaders } from '#views/freshness-headers.ts';

type Freshness = { asOfMs: number | undefined; isStale: boolean; tooLarge: number };

const nowMs = Date.parse('2026-11-21T12:00:00.900Z');

const behind = (seconds: number, isStale = false): Freshness => ({
  asOfMs: nowMs - seconds * 1000,
  isStale,
  tooLarge: 0,
});

describe('the age of an answer', () => {
  it('is that of the account that is furthest behind', () => {
    const freshness = new Map([
      ['prod', behind(3.2)],
      ['dev', behind(41.9)],
      ['elsewhere', behind(900)],
    ]);
    expect(toFreshnessHeaders(freshness, ['prod', 'dev', 'prod'], nowMs)).toEqual({
      Age: '41',
      'X-Busdriver-As-Of': '2026-11-21T11:59:19.000Z',
      'X-Busdriver-Lag': 'dev=41, prod=3',
    });
  });

  it('tells which accounts are stale, and which were not cached yet', () => {
    const freshness = new Map<string, Freshness>([
      ['prod', behind(3)],
      ['dev', behind(7200, true)],
      ['new', { asOfMs: undefined, isStale: false, tooLarge: 0 }],
    ]);
    expect(toFreshnessHeaders(freshness, ['prod', 'dev', 'new'], nowMs)).toMatchObject({
      Age: '7200',
      'X-Busdriver-Lag': 'new=unknown, dev=stale, prod=3',
    });
    expect(toFreshnessHeaders(freshness, ['new'], nowMs)).toEqual({ 'X-Busdriver-Lag': 'new=unknown' });
  });

  it('tells of which accounts something is missing that is too large to be cached', () => {
    const freshness = new Map([
      ['prod', behind(3)],
      ['dev', { ...behind(2), tooLarge: 1 }],
      ['test', { ...behind(1), tooLarge: 12 }],
    ]);
    expect(toFreshnessHeaders(freshness, ['prod', 'dev', 'test'], nowMs)).toMatchObject({
      'X-Busdriver-Lag': 'prod=3, dev=2, test=1',
      'X-Busdriver-Too-Large': 'test=12, dev=1',
    });
    const others = Object.keys(toFreshnessHeaders(freshness, ['prod'], nowMs));
    expect(others).not.toContain('X-Busdriver-Too-Large');
  });

  it('is not told where nothing is known', () => {
    expect(toFreshnessHeaders(new Map(), ['prod'], nowMs)).toEqual({});
    expect(toFreshnessHeaders(new Map([['prod', behind(1)]]), [], nowMs)).toEqual({});
  });

  it('is never less than nothing, whatever the clocks of others say', () => {
    const headers = toFreshnessHeaders(new Map([['prod', behind(-5)]]), ['prod'], nowMs);
    expect(headers).toMatchObject({ Age: '0', 'X-Busdriver-Lag': 'prod=0' });
  });

  it('fits into a header for any number of accounts with any names, the worst told first', () => {
    const account = fc.tuple(fc.string({ unit: 'binary', minLength: 1, maxLength: 60 }), fc.nat(100_000));
    fc.assert(
      fc.property(fc.array(account, { minLength: 1, maxLength: 200 }), (accounts) => {
        const ages = new Map(accounts.map(([name, seconds]) => [name.toWellFormed(), seconds]));
        const freshness = new Map([...ages].map(([name, seconds]) => [name, behind(seconds)]));
        const text = toFreshnessHeaders(freshness, [...ages.keys()], nowMs)['X-Busdriver-Lag'] ?? '';
        expect(text).toMatch(/^[\x21-\x7e]+(, [\x21-\x7e]+)*$/);
        expect(text.length).toBeLessThan(1_020);
        const told = text.split(', ').map((part) => part.split('='));
        const rest = told.at(-1)?.[0] === '*' ? Number(told.pop()?.[1]) : undefined;
        for (const [name = '', seconds] of told) {
          expect(Number(seconds)).toBe(ages.get(decodeURIComponent(name)));
          ages.delete(decodeURIComponent(name));
        }
        const least = Math.min(...told.map(([, seconds]) => Number(seconds)));
        const left = [...ages.values()];
        expect(rest).toBe(left.length === 0 ? undefined : Math.max(...left));
        for (const seconds of left) expect(seconds).toBeLessThanOrEqual(least);
      }),
    );
  });
});

describe('the age that a caller accepts', () => {
  it.each([
    [undefined, undefined],
    ['', undefined],
    ['max-age=30', 30_000],
    ['Max-Age = 30', 30_000],
    ['no-store, max-age="5"', 5_000],
    ['no-cache', 0],
    ['max-age=30, no-cache', 0],
    ['max-age=60, max-age=7', 7_000],
    ['max-age=-1', undefined],
    ['max-age=1.5', undefined],
    ['max-age', undefined],
    ['max-age=soon, only-if-cached', undefined],
    ['max-age=99999999999', undefined],
    [`max-age=9,${' '.repeat(1_024)}max-age=1`, 9_000],
  ])('%j is %j milliseconds', (header, maxAgeMs) => {
    expect(parseMaxAgeMs(header)).toBe(maxAgeMs);
  });
});

describe('what a request accepts in the place of an error', () => {
  it.each([
    [undefined, undefined],
    ['no-cache, max-age=5', undefined],
    ['stale-if-error', undefined],
    ['stale-if-error=-1', undefined],
    ['x-stale-if-error=60', undefined],
    ['stale-if-error=0', 0],
    ['max-age=0, Stale-If-Error = "600"', 600_000],
    ['stale-if-error=600,stale-if-error=60', 60_000],
    [`${','.repeat(2_000)}stale-if-error=60`, undefined],
  ])('%s: %s ms', (header, ms) => {
    expect(parseStaleIfErrorMs(header)).toBe(ms);
  });
});
