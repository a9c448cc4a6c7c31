import { describe, expect, it } from 'vitest';
import { formatSoakHelp, parseSoakOptions } from './soak-options.ts';

describe('the options of npm run soak', () => {
  it('are an hour, 500 operations and 30 kills where nothing is said, by another seed each time', () => {
    const [one, other] = [parseSoakOptions([]), parseSoakOptions([])];
    expect(one).toMatchObject({
      minutes: 60,
      operations: 500,
      kills: 30,
      changes: 5_000,
      report: 'docs/soak.md',
      help: false,
    });
    expect(one.seed).not.toBe(other.seed);
  });

  it('are taken as they are given', () => {
    const args = [
      '--minutes',
      '10',
      '--operations=40',
      '--kills',
      '0',
      '--seed',
      '7',
      '--changes',
      '900',
      '--report',
      'x.md',
    ];
    expect(parseSoakOptions(args)).toEqual({
      ...{ minutes: 10, operations: 40, kills: 0, seed: 7 },
      ...{ changes: 900, report: 'x.md', help: false },
    });
  });

  it.each([
    ['--minutes', '0', 'from 1 to 1440'],
    ['--operations', '1.5', 'from 1 to 100000'],
    ['--kills', 'many', 'from 0 to 10000'],
    ['--changes', '1', 'from 100 to 1000000'],
    ['--seed', '4294967296', 'from 0 to 2147483647'],
  ])('are refused by name: %s %s', (name, value, expected) => {
    expect(() => parseSoakOptions([name, value])).toThrow(
      `${name}: expected a whole number ${expected}, not '${value}'`,
    );
  });

  it('are all in the help', () => {
    for (const name of ['minutes', 'operations', 'kills', 'changes', 'seed', 'report', 'help']) {
      expect(formatSoakHelp()).toMatch(new RegExp(`^  --${name} `, 'm'));
    }
  });
});
