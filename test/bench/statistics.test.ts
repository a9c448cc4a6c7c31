import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { summarize } from './statistics.ts';

describe('summarize', () => {
  it('takes percentiles by the nearest rank, in whatever order samples come', () => {
    const samples = Array.from({ length: 20 }, (_, index) => 20 - index);
    expect(summarize(samples)).toEqual({
      n: 20,
      minimum: 1,
      p25: 5,
      median: 10,
      p75: 15,
      p95: 19,
      maximum: 20,
    });
    expect(summarize([10, 9, 100])).toMatchObject({ median: 10, p75: 100 });
  });

  it('answers samples that there are, in order', () => {
    const samples = fc.array(fc.double({ noNaN: true }), { minLength: 1 });
    fc.assert(
      fc.property(samples, (values) => {
        const { minimum, p25, median, p75, p95, maximum } = summarize(values);
        const found = [minimum, p25, median, p75, p95, maximum];
        expect(found.every((value) => values.includes(value))).toBe(true);
        expect(found.every((value, index) => index === 0 || value >= (found[index - 1] ?? 0))).toBe(true);
      }),
    );
  });

  it('refuses to tell of nothing', () => {
    expect(() => summarize([])).toThrow('there is no sample');
  });
});
