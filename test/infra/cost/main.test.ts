import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { formatCostHelp } from '../../../infra/cost/cost-options.ts';
import { root } from '../../architecture/source-files.ts';

function run(...args: readonly string[]) {
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [join(root, 'infra/cost/main.ts'), ...args],
    { encoding: 'utf8', timeout: 300_000 },
  );
  return { stdout, stderr, status };
}

describe('npm run cost', () => {
  it('prints its help', { timeout: 60_000 }, () => {
    expect(run('--help')).toEqual({ stdout: `${formatCostHelp()}\n`, stderr: '', status: 0 });
  });

  it('tells what is wrong with its command line, and where to look', { timeout: 120_000 }, () => {
    expect(run('--mode', 'push')).toEqual({
      stdout: '',
      stderr: "--mode must be one of interval, adaptive, stream, not 'push'\nTry 'npm run cost -- --help'.\n",
      status: 2,
    });
    expect(run('--prices', '/nowhere.json')).toMatchObject({
      stderr: expect.stringContaining("--prices: the file '/nowhere.json' cannot be read"),
      status: 2,
    });
  });

  it('reckons what its options say, with what the templates have', { timeout: 310_000 }, () => {
    const { stdout, status } = run('--accounts', '3', '--secrets', '1', '--network', 'existing', '--json');
    expect(status).toBe(0);
    const bill: unknown = JSON.parse(stdout);
    expect(bill).toMatchObject({
      scenario: { accounts: 3, secrets: 1, network: 'existing' },
      dollars: expect.any(Number),
      counts: { dashboards: 1 },
    });
  });
});
