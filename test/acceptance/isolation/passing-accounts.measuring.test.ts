import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { mapConcurrently } from '#core/concurrency.ts';
import { asJsonArray, asJsonObject, asString } from '#core/json.ts';
import { startTcpForwarder } from '#test/shared/providers/kubernetes/transport/tcp-forwarder.ts';
import { createNamespace, describeWithCluster, type TestCluster } from '#test/support/cluster/cluster.ts';
import { chooseSize } from '#test/support/run/test-size.ts';
import { type FunctionsProcess, startSharedEngines } from '../kubernetes/shared-engines.ts';

/** Accounts that come and go in one test, unless the time is over before. */
const passingMax = chooseSize({ short: 300, long: 2_000 });
/** Milliseconds after which no further round of them begins. */
const timeMs = chooseSize({ short: 12_000, long: 300_000 });
/** A machine that does much else takes long: what is waited for in vain fails by itself. */
const testTimeoutMs = 4 * 60_000 + timeMs;
/** Of them in a round: they are added, then removed. */
const roundSize = 40;
const keptCount = 20;
const processCount = 3;
const writers = 6;
/** From the answer to a change until every process shows it, milliseconds: usually one or two seconds. */
const seenMsMax = 15_000;
/** What a process may have more on its heap after all rounds than after the first one: it is the same for any number of changes. */
const heapGrowthBytesMax = 4 * 2 ** 20;
/** Connections that may end meanwhile: those of a burst, which nobody needs for 45 seconds. Each change would end more, if it ended any. */
const idleConnectionsMax = keptCount;
/** Those that may come meanwhile: one for each account in each process, for deploys go to any of them. */
const newConnectionsMax = keptCount * processCount;
/** Between two deploys of an account, milliseconds. */
const deployPauseMs = 1_000;
/** Between two looks at the list, milliseconds. */
const lookPauseMs = 100;

const kept = Array.from({ length: keptCount }, (_, index) => `kept-${index}`);

/** What is known of one process: since when it shows a name, or does not any more. */
class Observer {
  readonly #process: FunctionsProcess;
  #listed: ReadonlySet<string> = new Set();
  /** By name, when the list was asked for that showed it first. */
  readonly appearedAtMs = new Map<string, number>();
  /** By name, when the list was asked for that did not show it any more. */
  readonly vanishedAtMs = new Map<string, number>();

  constructor(process: FunctionsProcess) {
    this.#process = process;
  }

  async run(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      await this.#look();
      await sleep(lookPauseMs);
    }
  }

  async #look(): Promise<void> {
    const askedAtMs = performance.now();
    const response = await fetch(`${this.#process.url}/credentials`);
    const answer: unknown = await response.json();
    // The front door of a starved process says no list.
    if (response.status === 503) return;
    const names = asJsonArray(answer).map((account) => asString(asJsonObject(account)?.name) ?? '');
    const listed = new Set(names);
    for (const name of listed.difference(this.#listed)) this.appearedAtMs.set(name, askedAtMs);
    for (const name of this.#listed.difference(listed)) this.vanishedAtMs.set(name, askedAtMs);
    this.#listed = listed;
  }
}

async function change(
  process: FunctionsProcess,
  { method, name }: { readonly method: 'POST' | 'DELETE'; readonly name: string },
): Promise<void> {
  const definition = { type: 'kubernetes', name, server: { host: 'http://127.0.0.1:1' } };
  const isNew = method === 'POST';
  const response = await process.fetch(`/credentials${isNew ? '' : `/${name}`}`, {
    method,
    ...(isNew && { body: JSON.stringify(definition), headers: { 'content-type': 'application/json' } }),
  });
  const text = await response.text();
  // A starved process had answered 503 to a first POST, which was done all the same.
  if (isNew && text.includes('Cannot create an account which already exists')) return;
  expect([method, name, response.status, text]).toEqual([method, name, 200, text]);
}

/** When changes were answered, by the accounts' names. */
interface Answered {
  readonly added: Map<string, number>;
  readonly removed: Map<string, number>;
}

async function runRound(
  processes: readonly FunctionsProcess[],
  observers: readonly Observer[],
  { added, removed }: Answered,
): Promise<void> {
  const first = added.size;
  const names = Array.from({ length: roundSize }, (_, index) => `passing-${first + index}`);
  for (const [method, answered, seen] of [
    ['POST', added, 'appearedAtMs'],
    ['DELETE', removed, 'vanishedAtMs'],
  ] as const) {
    await mapConcurrently(names, writers, async (name) => {
      const process = processes[answered.size % processes.length] as FunctionsProcess;
      await change(process, { method, name });
      answered.set(name, performance.now());
    });
    await expect
      .poll(() => observers.every((each) => names.every((name) => each[seen].has(name))))
      .toBe(true);
  }
}

/** The longest of the times from an answer until a process has seen it; infinite where one has not. */
function getLongest(answered: ReadonlyMap<string, number>, seen: ReadonlyMap<string, number>): number {
  return Math.max(
    ...[...answered].map(([name, atMs]) => (seen.get(name) ?? Number.POSITIVE_INFINITY) - atMs),
  );
}

/** Statuses of tasks that did not succeed, of one account's deploys. */
async function deployOften(
  processes: readonly FunctionsProcess[],
  { account, namespace, isOver }: { account: string; namespace: string; isOver: () => boolean },
): Promise<{ readonly deploys: number; readonly failures: readonly unknown[] }> {
  const failures: unknown[] = [];
  let deploys = 0;
  for (; !isOver(); deploys += 1) {
    const process = processes[deploys % processes.length] as FunctionsProcess;
    const metadata = { name: account, annotations: { 'strategy.spinnaker.io/versioned': 'false' } };
    const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { turn: `${deploys}` } };
    const context = { account, source: 'text', moniker: { app: 'web' }, manifests: [manifest] };
    const id = await process.postOperations([
      { deployManifest: { ...context, namespaceOverride: namespace } },
    ]);
    const { status } = await process.waitForTask(id);
    if (status.failed) failures.push(status);
    await sleep(deployPauseMs);
  }
  return { deploys, failures };
}

async function toConnectionSettings(cluster: TestCluster, port: number): Promise<object> {
  const kubeconfig = await readFile(cluster.kubeconfig, 'utf8');
  const { origin } = new URL(cluster.server);
  return { kubeconfigContents: kubeconfig.replaceAll(origin, `https://127.0.0.1:${port}`) };
}

async function measureHeaps(processes: readonly FunctionsProcess[]): Promise<readonly number[]> {
  return await Promise.all(processes.map((process) => process.measureHeap()));
}

describeWithCluster('hundreds of accounts that come and go', (cluster) => {
  it('are seen by every process at once, and cost other accounts no operation and no connection', {
    timeout: testTimeoutMs,
  }, async () => {
    await using namespace = await createNamespace('passing');
    await using forwarder = await startTcpForwarder(Number(new URL(cluster.server).port));
    const connection = await toConnectionSettings(cluster, forwarder.port);
    const common = { ...connection, namespaces: [namespace.name], kinds: ['configMap'] };
    const accounts = kept.map((name) => ({ name, ...common, cacheMode: 'interval' }));
    await using system = await startSharedEngines(processCount, { kubernetes: { accounts } });
    const { processes } = system;
    let isOver = false;
    const stays = { namespace: namespace.name, isOver: () => isOver };
    const observers = processes.map((process) => new Observer(process));
    const observing = Promise.all(observers.map((observer) => observer.run(() => isOver)));
    const deploying = Promise.all(kept.map((account) => deployOften(processes, { account, ...stays })));
    const answered: Answered = { added: new Map(), removed: new Map() };
    // By then all connections are there that are needed, and all code is loaded.
    await runRound(processes, observers, answered);
    const heapsBefore = await measureHeaps(processes);
    const before = { ...forwarder.counts };
    const endsAtMs = performance.now() + timeMs;

    while (answered.added.size < passingMax && performance.now() < endsAtMs) {
      await runRound(processes, observers, answered);
    }
    const after = { ...forwarder.counts };
    isOver = true;
    const deployed = await deploying;
    await observing;
    const growth = (await measureHeaps(processes)).map((bytes, index) => bytes - (heapsBefore[index] ?? 0));

    expect(deployed.flatMap(({ failures }) => failures)).toEqual([]);
    expect(deployed.every(({ deploys }) => deploys > 1)).toBe(true);
    for (const { appearedAtMs, vanishedAtMs } of observers) {
      expect(getLongest(answered.added, appearedAtMs)).toBeLessThan(seenMsMax);
      expect(getLongest(answered.removed, vanishedAtMs)).toBeLessThan(seenMsMax);
    }
    expect(before.opened).toBeGreaterThanOrEqual(keptCount);
    expect(after.opened - before.opened).toBeLessThan(newConnectionsMax);
    expect(after.ended - before.ended).toBeLessThan(idleConnectionsMax);
    expect(Math.max(...growth)).toBeLessThan(heapGrowthBytesMax);
  });
});
