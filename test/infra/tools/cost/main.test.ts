import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ownPrices } from '#infra/tools/cost/prices.ts';
import { parseCostOptions } from '#infra/tools/cost/scenario.ts';
import { root } from '#test/architecture/source-files.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';

/** Reads a file of prices with this text. */
async function readPrices(text: string) {
  await using folder = await makeTempDir();
  const file = join(folder.path, 'prices.json');
  await writeFile(file, text);
  return { file, prices: parseCostOptions(['--prices', file]).prices };
}

function run(...args: readonly string[]) {
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [join(root, 'infra/tools/cost/main.ts'), ...args],
    { encoding: 'utf8' },
  );
  return { stdout, stderr, status };
}

describe('the options of npm run cost', () => {
  it('have defaults that depend on each other', () => {
    expect(parseCostOptions(['--accounts', '7', '--objects', '200'])).toEqual({
      scenario: {
        ...{ accounts: 7, objects: 200, changesPerHour: 10, mode: 'adaptive', streamAccounts: 0, secrets: 0 },
        ...{ deploysPerDay: 7, polls: 10, pollers: 2, network: 'nat', agents: 0 },
      },
      prices: ownPrices,
      ...{ json: false, help: false },
    });
    expect(parseCostOptions(['--accounts', '7', '--mode', 'stream']).scenario.streamAccounts).toBe(7);
  });

  it.each([
    ['--accounts=-1', "--accounts: expected a whole number from 0 to 10000000, not '-1'"],
    ['--accounts 1e3', "from 0 to 10000000, not '1e3'"],
    ['--objects 99999999', '--objects: expected a whole number from 0 to 10000000'],
    ['--mode push', "--mode must be interval, adaptive or stream, not 'push'"],
    ['--network vpn', '--network must be nat, endpoints or existing'],
    [
      '--accounts 5 --stream-accounts 6',
      '--stream-accounts and --secrets must be at most the 5 of --accounts',
    ],
    ['--accounts 5 --secrets 6', '--stream-accounts and --secrets must be at most the 5 of --accounts'],
    ['--mode stream --stream-accounts 6', '--stream-accounts goes with --mode interval or adaptive'],
    ['--prices /nowhere.json', '--prices: expected a file of JSON: ENOENT'],
    ['--account 5', "Unknown option '--account': did you mean --accounts?"],
    ['5', "'5' is no option"],
  ])('refuse %s', (args, message) => {
    expect(() => parseCostOptions(args.split(' '))).toThrow(message);
  });
});

describe('a file of prices', () => {
  it('replaces those that it names', async () => {
    const text = '{"region": "eu-west-1", "date": "2026-12", "prices": {"natGb": 0.048}}';
    const { file, prices } = await readPrices(text);
    expect(prices).toEqual({
      from: `${file} (eu-west-1, 2026-12), else us-east-1, 2026-11`,
      dollars: { ...ownPrices.dollars, natGb: 0.048 },
    });
  });

  it.each([
    ['no JSON', '{', 'expected a file of JSON'],
    ['a list', '[]', 'expected {"prices": {"natGb": 0.048}}'],
    ['no prices', '{}', 'expected {"prices": {"natGb": 0.048}}'],
    ['a price that there is not', '{"prices": {"natGB": 1}}', 'prices.natGB: expected one of apiRequest'],
    ['a price below 0', '{"prices": {"natGb": -1}}', 'prices.natGb: expected US dollars'],
    ['a text', '{"prices": {"natGb": "1"}}', 'prices.natGb: expected US dollars'],
  ])('is refused with %s', async (_, text, message) => {
    await expect(readPrices(text)).rejects.toThrow(message);
  });
});

describe('npm run cost', () => {
  it('prints a table', () => {
    const { stdout, status } = run('--accounts', '1000');
    expect(status).toBe(0);
    expect(stdout.split('\n')[0]).toBe('US dollars a month, prices of us-east-1, 2026-11');
    expect(stdout).toMatch(/^accounts cached by turns +264.00$/m);
    expect(stdout).toMatch(/^ {2}KMS: key of tables and secrets, before its first rotation +1.00$/m);
    expect(stdout).toMatch(/^By service\n {2}DynamoDB +847.15\n/m);
    expect(stdout).toMatch(/^Sum +1,262.10\n… for each account +1.26$/m);
  });

  it('prints JSON', () => {
    const { stdout, status } = run('--accounts', '3', '--json');
    expect(status).toBe(0);
    const bill: unknown = JSON.parse(stdout);
    const key = { part: 'at rest', service: 'KMS', dollars: 1 };
    expect(bill).toMatchObject({ scenario: { accounts: 3 }, parts: { 'at rest': 32.46 } });
    expect(bill).toMatchObject({ lines: expect.arrayContaining([expect.objectContaining(key)]) });
  });

  it('prints its help, or what is wrong with its command line', () => {
    expect(run('--help')).toMatchObject({ stdout: expect.stringContaining('--accounts <N>'), status: 0 });
    expect(run('--mode', 'push')).toEqual({
      stdout: '',
      stderr: "--mode must be interval, adaptive or stream, not 'push'\nTry 'npm run cost -- --help'.\n",
      status: 2,
    });
  });
});
