import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeTempDir } from '#test/support/run/temp-dir.ts';
import { type ApiClient, openApiClient } from './api-client.ts';
import type { BenchMode } from './bench-options.ts';
import { toModeFields, toOwnName } from './bench-server.ts';
import type { ClusterAccess } from './cluster-access.ts';
import type { RowResult } from './rows.ts';
import { type CallCounts, type RunningSystem, startRunningSystem } from './running-system.ts';
import { toDeployRequest } from './sample-objects.ts';
import { summarize } from './statistics.ts';

/** Milliseconds until nothing more is made of a deploy. */
const settleTimeoutMs = 10_000;

/** Milliseconds between an answer and the next request for the list: the system refuses who sends thousands a second. */
const listPauseMs = 5;
/** Seconds for which accounts are listed before their calls are counted, and while they are. */
const listSeconds = { before: 2, counted: 5 };

/** Numbers of calls, by what made them, such as a new deploy. */
export type CallTable = { readonly [what: string]: CallCounts };

/** How long the whole system takes from its start until it is ready, on data that are there. */
export async function measureStarts(
  { kubeconfig }: ClusterAccess,
  { mode, starts }: { readonly mode: BenchMode; readonly starts: number },
): Promise<RowResult> {
  await using dir = await makeTempDir();
  const account = { namespaces: ['default'], ...toModeFields(mode) };
  const samples: number[] = [];
  for (let index = 0; index <= starts; index += 1) {
    const options = { dir: join(dir.path, 'system'), kubeconfig, account };
    await using system = await startRunningSystem(options);
    // The first start makes the tables and fills the compile cache.
    if (index > 0) samples.push(system.readyMs);
  }
  return {
    ...{ name: 'ready after start', unit: 'ms', aim: 400 },
    ...{ server: toOwnName(mode), summary: summarize(samples) },
  };
}

/**
 * The calls of one deploy of each kind, once everything is warm: the fewest of three, for agents and schedules make calls now and
 * then that have nothing to do with it.
 */
export async function countDeployCalls({ kubeconfig }: ClusterAccess, namespace: string): Promise<CallTable> {
  await using dir = await makeTempDir();
  const account = { namespaces: [namespace], cacheMode: 'interval' };
  const options = { dir: join(dir.path, 'system'), kubeconfig, account, counting: true };
  await using system = await startRunningSystem(options);
  // Each request for the task is a call as well: one is enough.
  await using client = openApiClient(system.url, { pollPauseMs: 500 });
  const counts: { [what: string]: CallCounts } = {};
  const names = ['count-warm-up', ...Array.from({ length: 3 }, (_, index) => `count-${index}`)];
  for (const [index, name] of names.entries()) {
    for (const [kind, revision] of Object.entries({ new: 1, unchanged: 1, changed: 2 })) {
      await settle(system);
      await client.deploy(toDeployRequest({ account: system.account, namespace, name, revision }));
      const counted = await settle(system);
      const before = counts[`a deploy, ${kind}`] ?? counted;
      if (index > 0) counts[`a deploy, ${kind}`] = toFewest(before, counted);
    }
  }
  return counts;
}

/**
 * The calls of a second in which accounts are listed again and again, with a system that caches nothing: among them the looks whether
 * accounts have changed.
 */
export async function countListCalls({ kubeconfig }: ClusterAccess): Promise<CallTable> {
  await using dir = await makeTempDir();
  const account = { namespaces: ['default'] };
  const settings = { account, cache: { enabled: false }, counting: true };
  await using system = await startRunningSystem({ dir: join(dir.path, 'system'), kubeconfig, ...settings });
  await using client = openApiClient(system.url);
  await listFor(client, listSeconds.before);
  await system.takeCounts();
  await listFor(client, listSeconds.counted);
  const counts = Object.entries(await system.takeCounts()).filter(([name]) => name !== 'ReceiveMessage');
  const rates = counts.map(([name, count]) => [name, Math.round((count / listSeconds.counted) * 10) / 10]);
  return { 'a second of GET /credentials, one after the other': Object.fromEntries(rates) };
}

async function listFor(client: ApiClient, seconds: number): Promise<void> {
  const endsAtMs = performance.now() + seconds * 1_000;
  while (performance.now() < endsAtMs) {
    await client.get('/credentials');
    await sleep(listPauseMs);
  }
}

/** What both have, as often as the one that has it less often. */
function toFewest(one: CallCounts, other: CallCounts): CallCounts {
  const names = Object.keys(one).filter((name) => other[name] !== undefined);
  return Object.fromEntries(names.map((name) => [name, Math.min(one[name] ?? 0, other[name] ?? 0)]));
}

/** What comes after completion goes on for a moment: its calls count too. Answers them once no more are made. */
async function settle(system: RunningSystem): Promise<CallCounts> {
  const sum: { [name: string]: number } = {};
  const deadline = performance.now() + settleTimeoutMs;
  for (;;) {
    await sleep(100);
    const counts = await system.takeCounts();
    // A long poll for messages may begin at any time and says nothing.
    const made = Object.entries(counts).filter(([name]) => name !== 'ReceiveMessage');
    for (const [name, count] of Object.entries(counts)) sum[name] = (sum[name] ?? 0) + count;
    if (made.length === 0 || performance.now() > deadline) return sum;
  }
}

/** Calls as lines, such as `a deploy, new: 3 PutItem`. */
export function formatCalls(calls: CallTable): string[] {
  return Object.entries(calls).map(([what, counts]) => {
    const texts = Object.entries(counts).map(([name, count]) => `${count} ${name}`);
    return `${what}: ${texts.sort().join(', ')}`;
  });
}
