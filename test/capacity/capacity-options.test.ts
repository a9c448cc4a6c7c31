import { describe, expect, test } from 'vitest';
import { parseCapacityOptions } from './capacity-options.ts';

describe('the options of the capacity suite', () => {
  test('are the whole of it, and the page in docs, unless something is told', () => {
    expect(parseCapacityOptions([])).toEqual({ help: false, divisor: 1, report: 'docs/capacity.md' });
    expect(parseCapacityOptions(['--divisor', '10', '--part=fleet'])).toEqual({
      help: false,
      divisor: 10,
      part: 'fleet',
      report: 'dist/capacity.md',
    });
  });

  test.each([
    [['--divisor', '0'], '--divisor: expected a whole number from 1 to 1000'],
    [['--divisor=half'], '--divisor: expected a whole number from 1 to 1000'],
    [['--part', 'pods'], '--part: expected account, fleet, report'],
  ])('%j are refused', (args, message) => {
    expect(() => parseCapacityOptions(args)).toThrow(message);
  });
});
