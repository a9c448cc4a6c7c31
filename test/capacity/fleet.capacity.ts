import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { availableParallelism, cpus } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { forEachConcurrently } from '#core/concurrency.ts';
import { readCommit } from '#test/lab/soak-report.ts';
import {
  type ScriptedServer,
  startScriptedServer,
} from '#test/shared/providers/kubernetes/client/scripted-server.ts';
import { type CapacityBench, openCapacityBench, showApplication } from './capacity-bench.ts';
import type { CapacityOptions } from './capacity-options.ts';
import {
  type CapacityPart,
  type CapacityRow,
  countObjects,
  formatCapacityReport,
} from './capacity-report.ts';
import { startEngineProcess } from './engine-process.ts';
import { bareApplication, createFleetWorld, type FleetSize, type FleetWorld } from './fleet-world.ts';

const root = path.join(import.meta.dirname, '../..');
const given = JSON.parse(process.env['CAPACITY_OPTIONS'] ?? '{}') as Partial<CapacityOptions>;
const { divisor = 1, part, report = 'dist/capacity.md' } = given;
const divide = (count: number): number => Math.max(1, Math.round(count / divisor));

const large: FleetSize = {
  applications: divide(5_000),
  deployments: divide(10_000),
  largeDeployments: divide(1_000),
  replicaSetsEach: 10,
  // More names than an item holds, however small the rest is.
  bareReplicaSets: 9_500,
  pods: divide(20_000),
};

/** An account of the fleet: as most are. */
const usual: FleetSize = {
  applications: 5,
  deployments: 10,
  largeDeployments: 4,
  replicaSetsEach: 2,
  bareReplicaSets: 0,
  pods: 20,
};

const accounts = Array.from(
  { length: divide(1_000) },
  (_, index) => `account${String(index).padStart(4, '0')}`,
);

const concurrentAccounts = 8;

/** Runs of an account's agent in which everything must have been listed. */
const fillRunsMax = 10;

/** Milliseconds between two lines about how far it is. */
const tellIntervalMs = 15_000;

describe('the capacity suite', () => {
  let server: ScriptedServer;

  beforeAll(async () => {
    server = await startScriptedServer();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test.runIf(part === undefined || part === 'account')('one large account is cached whole', async () => {
    const rows: CapacityRow[] = [];
    const world = createFleetWorld(large);
    await using engine = await startEngineProcess();
    const account = 'large';
    await using bench = await openCapacityBench({ engine, server, world, accounts: [account] });
    const measure = createMeasure(bench, rows);
    const run = () => runWell(bench, account);
    await measure('the first fill', () => fill(bench, account));
    expect((await bench.find(account)).lastRun?.items).toBe(
      // Namespaces are read, too.
      countObjects(large) + world.namespaces,
    );
    await measure('a run in which nothing changed', run);
    world.touch(100);
    await measure('a run in which 100 ReplicaSets of 100 Deployments changed', run);
    await measure('a new cluster in the application with the most names, and its end', () =>
      noteCluster(bench, account),
    );
    await measure('GET /applications', () => checkApplications(bench, world));
    const [largest = ''] = world.listApplications();
    for (const application of [largest, bareApplication]) {
      const size = world.listClusters(application).length;
      const what = `GET /applications/{application}/serverGroups and /clusters, ${size} clusters`;
      await measure(what, () => checkApplication(bench, world, application));
    }
    const others = world.listApplications().slice(1, -1);
    let pods = (await countPods(bench, largest)) + (await countPods(bench, bareApplication));
    await measure('the same of each other application', {
      times: others.length,
      async act() {
        for (const application of others) pods += await countPods(bench, application);
      },
    });
    expect(pods).toBe(large.pods);
    await keep('account', { size: large, accounts: 1, divisor, made: await readSubject(), rows });
  });

  test.runIf(part === undefined || part === 'fleet')('a fleet of accounts is cached whole', async () => {
    const rows: CapacityRow[] = [];
    const world = createFleetWorld(usual);
    await using engine = await startEngineProcess();
    await using bench = await openCapacityBench({ engine, server, world, accounts });
    const measure = createMeasure(bench, rows);
    const times = accounts.length;
    const act = () => forEachConcurrently(accounts, concurrentAccounts, (account) => runWell(bench, account));
    await measure('the first fill of an account', { times, act });
    await measure('a run in which nothing changed', { times, act });
    await measure('GET /applications', async () => {
      const { value } = await bench.reader.listApplications();
      expect(value).toHaveLength(times * usual.applications);
      for (const { application, clusters } of value)
        expect(clusters).toEqual(world.listClusters(application));
    });
    const applications = world.listApplications();
    let pods = 0;
    await measure('GET /applications/{application}/serverGroups, in all accounts', {
      times: applications.length,
      async act() {
        for (const application of applications) pods += await countPods(bench, application);
      },
    });
    expect(pods).toBe(times * usual.pods);
    await keep('fleet', { size: usual, accounts: accounts.length, divisor, made: await readSubject(), rows });
  });

  test.runIf(part === undefined || part === 'report')('the report is written', async () => {
    const [account, fleet] = await Promise.all([readKept('account'), readKept('fleet')]);
    const file = path.resolve(root, report);
    const before = await readFile(file, 'utf8').catch(() => '');
    // What another program measured, at the end of the page, is kept.
    const [, measuredByBench = ''] = before.split(/^(?=## What two cores carry$)/m);
    await writeFile(file, [formatCapacityReport({ account, fleet }), measuredByBench].join('\n'));
    tell(`the report is in ${report}`);
  });
});

async function readSubject(): Promise<string> {
  const machine = `Node ${process.version}, ${availableParallelism()} × ${cpus()[0]?.model ?? 'unknown'}`;
  return `${new Date().toISOString().slice(0, 10)}, commit ${await readCommit(root)}, ${machine}`;
}

/** Keeps what a part came to for the report, which may be written after the other part was run by itself. */
async function keep(name: Part, part: CapacityPart): Promise<void> {
  const file = toPartFile(name);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, JSON.stringify(part));
}

/** @throws Error when the part was not run yet */
async function readKept(name: Part): Promise<CapacityPart> {
  return JSON.parse(await readFile(toPartFile(name), 'utf8')) as CapacityPart;
}

function toPartFile(name: Part): string {
  return path.join(root, 'dist/capacity', `${name}.json`);
}

type Part = 'account' | 'fleet';

type Work = (() => Promise<unknown>) | { readonly times: number; readonly act: () => Promise<unknown> };

/** Makes what does something, counts what it cost, and tells how far it is meanwhile. */
function createMeasure(
  bench: CapacityBench,
  rows: CapacityRow[],
): (what: string, work: Work) => Promise<void> {
  return async (what, work) => {
    const { times, act } = typeof work === 'function' ? { times: 1, act: work } : work;
    const startedAt = performance.now();
    const look = (): string => `${Math.round((performance.now() - startedAt) / 1_000)} s`;
    const timer = setInterval(
      () => tell(`${what}: ${look()}, ${bench.countRequests()} requests`),
      tellIntervalMs,
    );
    bench.takeUnits();
    try {
      await act();
    } finally {
      clearInterval(timer);
    }
    const row = { what, units: bench.takeUnits(), tookMs: performance.now() - startedAt, times };
    rows.push(row);
    tell(`${what}: done after ${look()}: ${JSON.stringify(row.units)}`);
  };
}

/**
 * Runs an agent until it has listed everything. On a busy machine writing what a long list has takes longer than a list may; the
 * next run begins it anew, and finds most of it written.
 */
async function fill(bench: CapacityBench, account: string): Promise<void> {
  for (let runs = 1; runs <= fillRunsMax; runs += 1) {
    await runWell(bench, account);
    const { lastRun } = await bench.find(account);
    if (lastRun?.details?.['broken'] === undefined) return;
    tell(`run ${runs} did not list everything: ${lastRun.details['broken']}`);
  }
  throw new Error(`the account is not listed after ${fillRunsMax} runs`);
}

async function runWell(bench: CapacityBench, account: string): Promise<void> {
  const { failures, lastRun, lastError } = await bench.run(account);
  expect({ failures, outcome: lastRun?.outcome, lastError }).toEqual({ failures: 0, outcome: 'SUCCESS' });
  expect(lastRun?.details).not.toHaveProperty('tooLarge');
}

async function noteCluster({ cache }: CapacityBench, account: string): Promise<void> {
  const names = { clusters: ['bare-one-more'], locations: ['team0'] };
  expect(await cache.recordApplication(bareApplication, account, names)).toEqual([]);
  // Nothing has it: it is not to be listed.
  await cache.pruneApplication({ application: bareApplication, account }, async () => ({
    clusters: createFleetWorld(large).listClusters(bareApplication),
    locations: Array.from({ length: 50 }, (_, index) => `team${index}`),
  }));
}

async function checkApplications({ reader }: CapacityBench, world: FleetWorld): Promise<void> {
  const { value } = await reader.listApplications();
  expect(value.map(({ application }) => application).sort()).toEqual(world.listApplications().sort());
}

async function checkApplication(bench: CapacityBench, world: FleetWorld, application: string): Promise<void> {
  const { clusters, serverGroups } = await showApplication(bench, application);
  expect(Object.values(clusters)).toEqual([world.listClusters(application)]);
  const each = application === bareApplication ? 1 : large.replicaSetsEach;
  expect(serverGroups.size).toBe(world.listClusters(application).length * each);
}

async function countPods({ reader }: CapacityBench, application: string): Promise<number> {
  const { value } = await reader.listServerGroups({ applications: [application], expand: false });
  const groups = value as readonly { readonly account: string; readonly instances: readonly unknown[] }[];
  return groups.reduce((sum, { instances }) => sum + instances.length, 0);
}

function tell(line: string): void {
  process.stdout.write(`capacity: ${line}\n`);
}
