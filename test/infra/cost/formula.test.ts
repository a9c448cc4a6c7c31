import { describe, expect, it } from 'vitest';
import { evaluate, listNames } from '../../../infra/cost/formula.ts';

const values = new Map([
  ['runs', 3],
  ['unit', 0.5],
]);

describe('a formula', () => {
  it('multiplies before it adds', () => {
    expect(evaluate('4 × runs × unit + 2 × unit + 0.25', values)).toBe(7.25);
  });

  it('is refused when it names what has no value', () => {
    expect(() => evaluate('runs × units', values)).toThrow("no value for 'units'");
  });

  it('names its values, each once', () => {
    expect(listNames('4 × runs × unit + 2 × unit + 0.25')).toEqual(['runs', 'unit']);
  });
});
