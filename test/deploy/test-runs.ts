import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { environmentVariable, type TestEnvironment } from './global-deployment.ts';
import type { PhaseOutput } from './phase-output.ts';

const root = path.join(import.meta.dirname, '../..');
const vitest = path.join(root, 'node_modules', 'vitest', 'vitest.mjs');
const config = path.join(import.meta.dirname, 'vitest.config.ts');

/** How tests came out. */
export interface TestCounts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** Sums up. */
export function addCounts(one: TestCounts, other: TestCounts): TestCounts {
  return {
    passed: one.passed + other.passed,
    failed: one.failed + other.failed,
    skipped: one.skipped + other.skipped,
  };
}

/** Says it in words, as the last line of a run does. */
export function formatCounts({ passed, failed, skipped }: TestCounts): string {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}

/** Which tests to run, and where. */
export interface TestRun {
  /** Parts of paths of test files. */
  readonly filters: readonly string[];
  readonly environment: TestEnvironment;
  /** A file for the results, which nobody else writes. */
  readonly resultFile: string;
  /** Receives what vitest writes. */
  readonly output: PhaseOutput;
}

/** Runs tests against the deployed stacks by vitest. A file that cannot be loaded counts as one failure. */
export async function runTests(options: TestRun): Promise<TestCounts> {
  const { filters, environment, resultFile, output } = options;
  const reporters = ['--reporter=verbose', '--reporter=json', `--outputFile.json=${resultFile}`];
  const child = spawn(
    process.execPath,
    [vitest, 'run', '--config', config, '--root', root, ...reporters, ...filters],
    {
      cwd: root,
      stdio: ['ignore', output.descriptor, output.descriptor],
      env: { ...process.env, [environmentVariable]: JSON.stringify(environment) },
    },
  );
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('close', resolve);
  });
  const counts = await readCounts(resultFile);
  return code !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts;
}

async function readCounts(resultFile: string): Promise<TestCounts> {
  const text = await readFile(resultFile, 'utf8').catch(() => '{}');
  const result: { [name: string]: number | undefined } = JSON.parse(text);
  const count = (name: string) => result[name] ?? 0;
  return {
    passed: count('numPassedTests'),
    failed: count('numFailedTests'),
    skipped: count('numPendingTests') + count('numTodoTests'),
  };
}
