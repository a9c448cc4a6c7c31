import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fillApplication } from '#test/support/cluster/fill-application.ts';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { openApiClient } from './api-client.ts';
import type { ClusterAccess } from './cluster-access.ts';
import type { CallTable } from './own-rows.ts';
import { readProcessFigures } from './process-figures.ts';
import type { RowResult } from './rows.ts';
import { type CallCounts, type RunningSystem, startRunningSystem } from './running-system.ts';
import { summarize } from './statistics.ts';

export interface CycleReport {
  readonly row: RowResult;
  readonly calls: CallTable;
}

export interface CycleOptions {
  readonly cluster: ClusterAccess;
  /** Application, which is also its namespace: none that is there already. */
  readonly application: string;
  readonly deployments: number;
  /** Cycles of which the processor time is read together. */
  readonly cycles: number;
  tell(line: string): void;
}

/** Seconds between two cycles while they are measured: many of them in little time. */
const cycleSeconds = 2;
/** Cycles whose calls are counted together. */
const countedCycles = 10;
const filledWithinMs = 600_000;

/** Measures what a cycle of an agent costs in which nothing changes, beyond a system that caches nothing. */
export async function measureCycles(options: CycleOptions): Promise<CycleReport> {
  const { cluster, application, deployments, cycles, tell } = options;
  tell(`making ${deployments} Deployments`);
  await fillApplication({
    ...{ ...cluster, namespace: application, application, deployments, podsEach: 1 },
    report: tell,
  });
  tell('measuring a system that caches nothing');
  const idleMs = await withSystem(options, { cache: { enabled: false } }, async (system) => {
    await sleep(5_000);
    return measureProcessorTime(system, cycles);
  });
  tell('measuring cycles');
  const usedMs = await withSystem(options, {}, async (system) => {
    await waitUntilCached(system, options);
    return measureProcessorTime(system, cycles);
  });
  tell('counting the calls of a cycle');
  const counts = await withSystem(options, { counting: true }, async (system) => {
    await waitUntilCached(system, options);
    return countCycle(system);
  });
  return {
    row: {
      ...{
        name: `processor time of a cycle without changes, ${deployments} Deployments`,
        unit: 'ms',
        aim: 50,
      },
      ...{ server: 'Busdriver, interval', summary: summarize([Math.max(0, usedMs - idleMs) / cycles]) },
    },
    calls: { 'a cycle without changes': counts },
  };
}

/** The system lives until `work` is done. */
async function withSystem<T>(
  { cluster, application }: CycleOptions,
  more: { readonly cache?: object; readonly counting?: boolean },
  work: (system: RunningSystem) => Promise<T>,
): Promise<T> {
  await using dir = await makeTempDir();
  const account = { namespaces: [application], cacheMode: 'interval', cacheIntervalSeconds: cycleSeconds };
  const { kubeconfig } = cluster;
  await using system = await startRunningSystem({
    dir: join(dir.path, 'system'),
    kubeconfig,
    account,
    ...more,
  });
  // Without 'await' the system would be stopped while it is being measured.
  return await work(system);
}

async function waitUntilCached(
  { url }: RunningSystem,
  { application, deployments }: CycleOptions,
): Promise<void> {
  const deadline = performance.now() + filledWithinMs;
  await using client = openApiClient(url);
  for (;;) {
    const text = await client.get(`/applications/${application}/serverGroups`);
    const found = JSON.parse(text) as { readonly instances: readonly unknown[] }[];
    if (found.length === deployments && found.every(({ instances }) => instances.length === 1)) break;
    if (performance.now() > deadline)
      throw new Error(`${found.length} of ${deployments} server groups are cached`);
    await sleep(500);
  }
  await sleep(cycleSeconds * 2_000);
}

async function measureProcessorTime({ pid }: RunningSystem, cycles: number): Promise<number> {
  const before = await readProcessFigures(pid);
  await sleep(cycles * cycleSeconds * 1_000);
  return (await readProcessFigures(pid)).processorMs - before.processorMs;
}

/** Calls a cycle: those of ten, divided. */
async function countCycle(system: RunningSystem): Promise<CallCounts> {
  await system.takeCounts();
  await sleep(countedCycles * cycleSeconds * 1_000);
  const counts = Object.entries(await system.takeCounts()).filter(([name]) => name !== 'ReceiveMessage');
  return Object.fromEntries(
    counts.map(([name, count]) => [name, Math.round((count / countedCycles) * 10) / 10]),
  );
}
