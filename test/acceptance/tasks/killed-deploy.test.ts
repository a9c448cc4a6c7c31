import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { type ApiProxyOptions, type ProxiedCall, startApiProxy } from '#test/support/cluster/api-proxy.ts';
import { createNamespace, describeWithCluster, requestApi } from '#test/support/cluster/cluster.ts';
import { itLocally } from '#test/support/system/subject.ts';
import { type System, type SystemTask, startSystem } from '#test/support/system/system.ts';
import { createSixtyObjects, listGlobalPaths } from './killed-deploy/sixty-objects.ts';

/** Another seed kills at other points: `KILL_SEED=… npx vitest run test/acceptance/tasks/killed-deploy.test.ts`. */
const seed = Number(process.env['KILL_SEED'] ?? 6);
const kills = 10;
const killTimeoutMs = 40_000;

describeWithCluster('a deploy of 60 objects of 20 kinds', (cluster) => {
  itLocally('there is no one process')(
    `is done by ${kills} processes that are killed, each object written once (seed ${seed})`,
    async () => {
      await using namespace = await createNamespace('sixty');
      await using _ = removeLater(listGlobalPaths(namespace.name));
      const objects = createSixtyObjects(namespace.name);
      expect(new Set(objects.map(({ manifest }) => manifest['kind'])).size).toBe(20);
      expect(objects).toHaveLength(60);
      for (const { present } of objects) {
        if (present !== undefined) await requestApi('POST', present.collection, present.object);
      }
      const killer = new Killer(planKills());
      await using proxy = await startApiProxy(cluster, killer);
      await using system = await startSystem({ kubeconfig: proxy.kubeconfig });
      killer.target = system;

      const manifests = objects.map(({ manifest }) => manifest);
      const id = await system.postOperations([
        { deployManifest: { account: 'test', moniker: { app: 'sixty' }, manifests } },
      ]);
      /** How many calls there were when each process began. */
      const begins: number[] = [];
      for (let kill = 1; kill <= kills; kill += 1) {
        if (!(await killer.waitForKill(kill))) throw new Error(await describe(system, id));
        await system.restart();
        begins.push(proxy.calls.length);
      }
      const task = await system.waitForTask(id, { timeoutMs: 60_000 });

      expect(readFailure(task)).toBeUndefined();
      const order = readOrder(task);
      expect(order).toHaveLength(60);
      expect(countWrites(proxy.calls)).toEqual(Object.fromEntries(order.map((name) => [name, 1])));
      expect(listStepsBack(proxy.calls, begins, order)).toEqual([]);
      expect(task.history.filter(({ status }) => status.startsWith('Submitting '))).toHaveLength(60);
    },
  );
});

/** When a process is killed: at the write of that number, before, right after, or a moment after the API server acted. */
interface KillPoint {
  readonly write: number;
  readonly phase: 'before' | 'after' | 'later';
}

function planKills(): KillPoint[] {
  const phases = ['before', 'after', 'later'] as const;
  const bytes = createHash('sha512').update(`kill ${seed}`).digest();
  return Array.from({ length: kills }, (_, index) => ({
    // One in each stretch of six, and not two next to each other: the second would find the first one's victim.
    write: 1 + index * 6 + ((bytes[index] ?? 0) % 4),
    phase: phases[(bytes[63 - index] ?? 0) % 3] ?? 'after',
  }));
}

/** Kills the system at planned points of what passes a proxy. */
class Killer implements ApiProxyOptions {
  target: Pick<System, 'kill'> | undefined;
  readonly #points: readonly KillPoint[];
  readonly #killed = Array.from({ length: kills }, () => Promise.withResolvers<void>());
  #writes = 0;
  #kills = 0;

  constructor(points: readonly KillPoint[]) {
    this.#points = points;
  }

  /** @returns false when it does not come to that */
  async waitForKill(number: number): Promise<boolean> {
    const killed = this.#killed[number - 1]?.promise.then(() => true) ?? false;
    return Promise.race([killed, sleep(killTimeoutMs, false, { ref: false })]);
  }

  readonly before = async ({ method }: { readonly method: string }): Promise<void> => {
    if (!isWrite(method) || !this.#isDue('before', this.#writes + 1)) return;
    await this.#kill();
    throw new Error('the caller was killed');
  };

  readonly cut = async (call: ProxiedCall): Promise<boolean> => {
    if (call.written === undefined || !isWrite(call.method)) return false;
    this.#writes += 1;
    if (this.#isDue('later', this.#writes)) void sleep(this.#writes % 10).then(() => this.#kill());
    if (!this.#isDue('after', this.#writes)) return false;
    await this.#kill();
    return true;
  };

  #isDue(phase: KillPoint['phase'], write: number): boolean {
    const point = this.#points[this.#kills];
    return point?.phase === phase && point.write === write;
  }

  async #kill(): Promise<void> {
    const killed = this.#killed[this.#kills];
    this.#kills += 1;
    await this.target?.kill('SIGKILL');
    killed?.resolve();
  }
}

/** A deletion makes way for the write of what is recreated. */
function isWrite(method: string): boolean {
  return method === 'POST' || method === 'PUT' || method === 'PATCH';
}

function countWrites(calls: readonly ProxiedCall[]): { [name: string]: number } {
  const counts: { [name: string]: number } = {};
  for (const { method, written } of calls) {
    if (written === undefined || !isWrite(method)) continue;
    counts[written.metadata.name] = (counts[written.metadata.name] ?? 0) + 1;
  }
  return counts;
}

/** Calls of each process about objects that an earlier one had left behind. */
function listStepsBack(
  calls: readonly ProxiedCall[],
  begins: readonly number[],
  order: readonly string[],
): string[] {
  return begins.flatMap((begin, index) => {
    const lastWrite = calls.slice(0, begin).findLast(({ method, written }) => written && isWrite(method));
    const reached = order.indexOf(lastWrite?.written?.metadata.name ?? '');
    return calls
      .slice(begin, begins[index + 1])
      .filter(({ path }) => order.slice(0, Math.max(reached, 0)).includes(path.split('/').at(-1) ?? ''))
      .map(({ method, path }) => `process ${index + 2}: ${method} ${path}`);
  });
}

function readOrder({ resultObjects }: SystemTask): string[] {
  const manifests = (resultObjects[0]?.['manifests'] ?? []) as { metadata: { name: string } }[];
  return manifests.map(({ metadata }) => metadata.name);
}

async function describe(system: System, id: string): Promise<string> {
  const task = (await (await system.fetch(`/task/${id}`)).json()) as SystemTask;
  return `No process to kill: ${JSON.stringify([task.status, readFailure(task), task.history.slice(-3)])}`;
}

function readFailure({ resultObjects }: SystemTask): unknown {
  return resultObjects.find(({ type }) => type === 'EXCEPTION')?.['message'];
}

function removeLater(paths: readonly string[]): AsyncDisposable {
  return {
    async [Symbol.asyncDispose]() {
      for (const path of paths) await requestApi('DELETE', path).catch(() => undefined);
    },
  };
}
