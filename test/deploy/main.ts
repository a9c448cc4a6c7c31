import { once } from 'node:events';
import { getErrorMessage } from '../../shared/core/errors.ts';
import { type DeployRun, startDeployRun } from './deploy-run.ts';
import { deployPhases, destroyPhase, type Phase, testPhases } from './phases.ts';
import {
  openPythonEnvironment,
  type PythonEnvironment,
  PythonUnavailableError,
} from './python-environment.ts';
import { formatHelp, parseRunOptions, type RunOptions } from './run-options.ts';
import { addCounts, formatCounts, type TestCounts } from './test-runs.ts';

const none: TestCounts = { passed: 0, failed: 0, skipped: 0 };

/** A phase that is over. */
interface Report {
  readonly name: string;
  readonly seconds: number;
  readonly remark: string;
  readonly counts: TestCounts;
}

const reports: Report[] = [];
const stopped = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopped.abort());

process.exitCode = await main();

async function main(): Promise<number> {
  const names = testPhases.map(({ name }) => name);
  const options = parseRunOptions(process.argv.slice(2), names);
  if (options.help) {
    console.log(formatHelp(names));
    return 0;
  }
  try {
    return await runAll(await openPythonEnvironment({ report: say }), options);
  } catch (error) {
    if (!(error instanceof PythonUnavailableError)) throw error;
    return skip(error.message);
  }
}

async function runAll(python: PythonEnvironment, options: RunOptions): Promise<number> {
  await using run = await startDeployRun(python);
  if ('missing' in run.clusterOffer) return skip(run.clusterOffer.missing);
  say(`ministack answers at ${run.ministack.endpoint}`);
  const chosen = testPhases.filter(({ name }) => options.only.length === 0 || options.only.includes(name));
  const isDeployed = await runPhases(deployPhases, run);
  const isTested = isDeployed && (await runPhases(chosen, run));
  if (options.keep && isDeployed) await keep(run);
  const isDestroyed = isDeployed && (await runPhase(destroyPhase, run));
  const counts = reports.map((report) => report.counts).reduce(addCounts, none);
  const isWell = isTested && isDestroyed && counts.failed === 0;
  if (!isWell) console.log(`\n${await run.readLogs()}`);
  summarize(counts);
  return isWell ? 0 : 1;
}

/** Runs phases until one cannot be run to its end, or somebody interrupts. @returns whether all were run */
async function runPhases(phases: readonly Phase[], run: DeployRun): Promise<boolean> {
  for (const phase of phases) {
    if (stopped.signal.aborted || !(await runPhase(phase, run))) return false;
  }
  return !stopped.signal.aborted;
}

/** @returns whether it was run to its end, however its tests came out */
async function runPhase({ name, ...phase }: Phase, run: DeployRun): Promise<boolean> {
  say(name);
  const startedAtMs = performance.now();
  const result = await phase.run(run).catch((error: unknown) => {
    console.error(getErrorMessage(error));
    return undefined;
  });
  const seconds = (performance.now() - startedAtMs) / 1000;
  const { remark, counts = none } = result ?? { remark: 'failed', counts: { ...none, failed: 1 } };
  reports.push({ name, seconds, remark, counts });
  return result !== undefined;
}

async function keep(run: DeployRun): Promise<void> {
  const { url, endpoint } = run.getDeployment();
  say(`Busdriver answers at ${url}, the emulated AWS at ${endpoint}; Ctrl-C destroys both`);
  const waiting = setInterval(() => undefined, 60_000);
  if (!stopped.signal.aborted) await once(stopped.signal, 'abort');
  clearInterval(waiting);
}

function summarize(counts: TestCounts): void {
  say('summary');
  for (const { name, seconds, remark, counts: own } of reports) {
    const { passed, failed, skipped } = own;
    const tests = passed + failed + skipped > 0 ? `${formatCounts(own)}: ` : '';
    console.log(`${name.padEnd(12)} ${seconds.toFixed(1).padStart(6)} s  ${tests}${remark}`);
  }
  console.log(`test:deploy: ${formatCounts(counts)}`);
}

function skip(reason: string): number {
  console.log(`The deployed stack is not tested: ${reason}`);
  console.log(`test:deploy: ${formatCounts({ ...none, skipped: 1 })}`);
  return 0;
}

function say(text: string): void {
  console.log(`\n=== ${text}`);
}
