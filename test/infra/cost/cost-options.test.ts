import { describe, expect, it } from 'vitest';
import { formatCostHelp, listOptions, parseCostOptions } from '../../../infra/cost/cost-options.ts';

describe('the command line of npm run cost', () => {
  it('has defaults that depend on each other', () => {
    expect(parseCostOptions(['--accounts', '7', '--objects', '200']).scenario).toEqual({
      accounts: 7,
      objects: 200,
      changesPerHour: 10,
      mode: 'adaptive',
      streamAccounts: 0,
      secrets: 0,
      deploysPerDay: 7,
      polls: 10,
      pollers: 2,
      network: 'nat',
      agents: 0,
    });
    expect(parseCostOptions(['--accounts', '7', '--mode', 'stream']).scenario.streamAccounts).toBe(7);
  });

  it('is understood whole', () => {
    const given =
      '--accounts 9 --objects 1 --changes-per-hour 2 --mode interval --stream-accounts 3 --secrets 4';
    const further =
      '--deploys-per-day 5 --polls 6 --pollers 0 --network endpoints --agents 8 --prices mine.json --json';
    expect(parseCostOptions(`${given} ${further}`.split(' '))).toEqual({
      scenario: {
        accounts: 9,
        objects: 1,
        changesPerHour: 2,
        mode: 'interval',
        streamAccounts: 3,
        secrets: 4,
        deploysPerDay: 5,
        polls: 6,
        pollers: 0,
        network: 'endpoints',
        agents: 8,
      },
      pricesFile: 'mine.json',
      json: true,
      write: false,
      help: false,
    });
  });

  it.each([
    ['--accounts -1', "Option '--accounts' argument is ambiguous"],
    ['--accounts=-1', '--accounts must be a whole number from 0'],
    ['--accounts 1e3', '--accounts must be a whole number from 0'],
    ['--objects 99999999', '--objects must be a whole number from 0 to 10000000'],
    ['--mode push', '--mode must be one of interval, adaptive, stream'],
    ['--network vpn', '--network must be one of nat, endpoints, existing'],
    ['--accounts 5 --stream-accounts 6', '--stream-accounts must be at most the 5 of --accounts'],
    ['--accounts 5 --secrets 6', '--secrets must be at most the 5 of --accounts'],
    ['--mode stream --stream-accounts 6', '--stream-accounts goes with --mode interval or adaptive'],
    ['--write --prices mine.json', '--write goes without --prices'],
    ['--account 5', "Unknown option '--account'"],
    ['5', "Unexpected argument '5'"],
  ])('is refused: %s', (args, message) => {
    expect(() => parseCostOptions(args.split(' '))).toThrow(message);
  });

  it('is told whole by its help', () => {
    const help = formatCostHelp();
    const options = listOptions();
    expect(options).toHaveLength(15);
    for (const [option, meaning] of options) expect(help).toContain(`  ${option.padEnd(22)} ${meaning}`);
  });
});
