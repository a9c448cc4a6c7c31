import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import '#test/support/run/compile-cache.ts';
import { offerCluster } from '#test/support/cluster/global-cluster.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { startDeployRun } from './deploy-run.ts';
import { LaneRun, type PhaseReport } from './lane-run.ts';
import { type Lane, lanes } from './lanes.ts';
import type { Phase } from './phase.ts';
import {
  openPythonEnvironment,
  type PythonEnvironment,
  PythonUnavailableError,
} from './python-environment.ts';
import { formatRunHelp, parseRunOptions, type RunOptions } from './run-options.ts';
import { addCounts, formatCounts, type TestCounts } from './test-runs.ts';

const noTests: TestCounts = { passed: 0, failed: 0, skipped: 0 };

const progressIntervalMs = 30_000;

/** Each keeps a processor busy: its emulator is one process. More at once take longer, and let calls time out. */
const lanesAtOnce = 2;

const reports: PhaseReport[] = [];
const stopped = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopped.abort());

process.exitCode = await main();

async function main(): Promise<number> {
  const names = lanes.flatMap(({ tests }) => tests.map(({ name }) => name));
  const options = parseRunOptions(process.argv.slice(2), names);
  if (options.help) {
    console.log(formatRunHelp(names));
    return 0;
  }
  try {
    return await runAll(await openPythonEnvironment(say), options);
  } catch (error) {
    if (!(error instanceof PythonUnavailableError)) throw error;
    return skip(error.message);
  }
}

async function runAll(python: PythonEnvironment, options: RunOptions): Promise<number> {
  await using resources = new AsyncDisposableStack();
  const { path: folder } = resources.use(await makeTempDir());
  const cluster = await offerCluster();
  resources.defer(cluster.stop);
  if ('missing' in cluster.offer) return skip(cluster.offer.missing);
  const chosen = chooseLanes(options.only);
  const packages = path.join(folder, 'packages');
  await mkdir(packages);
  const runs: LaneRun[] = [];
  // One after the other: each emulator is mended before it starts, in the folder that they have in common.
  for (const { lane, tests } of chosen) {
    const { offer: clusterOffer, stop } = lane.ownCluster ? await offerCluster() : cluster;
    if (lane.ownCluster) resources.defer(stop);
    const run = resources.use(
      await startDeployRun({ python, clusterOffer, packages, folder: path.join(folder, lane.name) }),
    );
    say(`${lane.name}: ministack answers at ${run.ministack.endpoint}`);
    runs.push(new LaneRun(run, { lane, tests, keep: options.keep, signal: stopped.signal, onEnd: tell }));
  }
  const progress = setInterval(() => void tellProgress(runs), progressIntervalMs);
  const isWell = await runLanes(runs);
  clearInterval(progress);
  return summarize(isWell);
}

/** Begins a lane when there is a place for it. @returns whether each was run to its end */
async function runLanes(runs: readonly LaneRun[]): Promise<boolean> {
  const waiting = runs.values();
  const ended: boolean[] = [];
  const runWaiting = async (): Promise<void> => {
    for (const run of waiting) ended.push(await run.runAll());
  };
  await Promise.all(Array.from({ length: lanesAtOnce }, runWaiting));
  return ended.every((isDone) => isDone);
}

/** Lanes with the tests that were asked for; without those that have none of them. */
function chooseLanes(only: RunOptions['only']): { readonly lane: Lane; readonly tests: readonly Phase[] }[] {
  const isChosen = ({ name }: Phase): boolean => only.length === 0 || only.includes(name);
  return lanes
    .map((lane) => ({ lane, tests: lane.tests.filter(isChosen) }))
    .filter(({ tests }) => tests.length > 0);
}

/** What a phase wrote, whole: phases of other lanes go on meanwhile. */
function tell(report: PhaseReport, text: string): void {
  reports.push(report);
  say(`${report.lane}: ${report.name}, ${report.seconds.toFixed(1)} s`);
  console.log(text.trimEnd());
}

async function tellProgress(runs: readonly LaneRun[]): Promise<void> {
  const lines = await Promise.all(runs.map((run) => run.describe()));
  const seconds = Math.round(performance.now() / 1000);
  for (const line of lines) if (line !== undefined) console.log(`… ${seconds} s: ${line}`);
}

/** @returns the exit code */
function summarize(isWell: boolean): number {
  const counts = reports.map((report) => report.counts).reduce(addCounts, noTests);
  say('summary');
  for (const { lane, name, seconds, remark, counts: own } of reports.toSorted(compareByLane)) {
    const tests = own.passed + own.failed + own.skipped > 0 ? `${formatCounts(own)}: ` : '';
    const columns = [lane.padEnd(8), name.padEnd(12), `${seconds.toFixed(1).padStart(6)} s`];
    console.log(`${columns.join(' ')}  ${tests}${remark}`);
  }
  console.log(`all together ${(performance.now() / 1000).toFixed(1).padStart(15)} s`);
  console.log(`test:deploy: ${formatCounts(counts)}`);
  return isWell && counts.failed === 0 ? 0 : 1;
}

function compareByLane(one: PhaseReport, other: PhaseReport): number {
  const place = ({ lane }: PhaseReport) => lanes.findIndex(({ name }) => name === lane);
  return place(one) - place(other);
}

function skip(reason: string): number {
  console.log(`The deployed stack is not tested: ${reason}`);
  console.log(`test:deploy: ${formatCounts({ ...noTests, skipped: 1 })}`);
  return 0;
}

function say(text: string): void {
  console.log(`\n=== ${text}`);
}
