import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createCacheStore } from '#caching/aws/store/cache-store.ts';
import type { JsonObject } from '#core/json.ts';
import { ItemTable } from '#platform/aws/table.ts';
import { cacheTable, tasksTable } from '#platform/aws/tables.ts';
import { ProviderSet } from '#provider-kit/provider-set.ts';
import { kubernetesPlugin } from '#providers/kubernetes/index.ts';
import { DynamoTaskStore } from '#tasks/aws/task-store.ts';
import { processTaskMessage } from '#tasks/process-message.ts';
import { acceptOperations } from '#tasks/requests/accept-operations.ts';
import { createWorkload } from '#test/shared/providers/kubernetes/manifests.ts';
import { openProvider } from '#test/shared/providers/kubernetes/provider-setup.ts';
import { startApiProxy } from '#test/support/cluster/api-proxy.ts';
import { createNamespace, describeWithCluster } from '#test/support/cluster/cluster.ts';
import { toRequest } from '#test/support/conformance/operation-run.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';
import type { ClientStep } from '#test/support/engines/store-test-client.ts';
import { messageOf } from '#test/support/system/task-runs.ts';
import { startTaskSystem } from '#test/support/system/task-system.ts';

/** Turns of the event loop that a call takes at least: what is sent at once is under way at once. */
const turnsOfCall = 10;

/** A call, and when it was under way, in steps of the log. */
interface LoggedCall {
  readonly what: string;
  readonly begin: number;
  end: number;
}

/** Logs calls of the store and of the cluster. The latter is as slow as what runs beside it. */
class CallLog {
  readonly store: LoggedCall[] = [];
  readonly cluster: LoggedCall[] = [];
  #steps = 0;
  #posted = Promise.withResolvers<void>();

  /** Forgets all, before a deploy that sends one POST. */
  clear(): void {
    this.store.length = 0;
    this.cluster.length = 0;
    this.#posted = Promise.withResolvers();
  }

  begin(calls: LoggedCall[], what: string): LoggedCall {
    this.#steps += 1;
    const call = { what, begin: this.#steps, end: Number.POSITIVE_INFINITY };
    calls.push(call);
    return call;
  }

  end(call: LoggedCall | undefined): void {
    this.#steps += 1;
    if (call !== undefined) call.end = this.#steps;
  }

  readonly step: ClientStep = (next, { commandName }) => {
    return async (args) => {
      const call = this.begin(this.store, `${commandName} ${JSON.stringify(args.input)}`);
      try {
        const answer = await next(args);
        for (let turns = 0; turns < turnsOfCall; turns += 1) await turn();
        // What the cache reads is asked for before, and answered once the cluster is asked for the object.
        if (/Get|Query/.test(commandName)) await this.#posted.promise;
        return answer;
      } finally {
        this.end(call);
      }
    };
  };

  async passPost(): Promise<void> {
    this.#posted.resolve();
    while (this.store.some(({ end }) => end === Number.POSITIVE_INFINITY)) await turn();
  }
}

/** The longest chain of calls of which each begins when the one before has ended, without those that run beside others. */
function findLongestChain(calls: readonly LoggedCall[], beside: readonly LoggedCall[]): string[] {
  const overlaps = (one: LoggedCall, other: LoggedCall): boolean =>
    one.begin < other.end && other.begin < one.end;
  const chain: LoggedCall[] = [];
  for (const call of calls.toSorted((one, other) => one.end - other.end)) {
    if (beside.some((other) => overlaps(call, other))) continue;
    if (call.begin > (chain.at(-1)?.end ?? 0)) chain.push(call);
  }
  return chain.map(({ what }) => what);
}

describeWithCluster('from the POST of a deploy to its completion', (cluster) => {
  const openTable = useLocalTables();
  const log = new CallLog();

  async function open(kubeconfig: string) {
    const engines = await startTaskSystem();
    const { clock, randomness } = engines;
    const [tasks, documents] = [tasksTable, cacheTable].map((table) => {
      const client = openTable(table).openDocuments();
      client.middlewareStack.add(log.step);
      return client;
    });
    if (tasks === undefined || documents === undefined) throw new Error('there are two tables');
    const store = new DynamoTaskStore({ table: new ItemTable(tasks, tasksTable.name), clock, randomness });
    const parts = { documents, tableName: cacheTable.name, clock, randomness };
    const cache = createCacheStore({ ...parts, codecs: kubernetesPlugin.rowCodecs ?? {} });
    const account = `account-${randomness.id()}`;
    await cache.raiseEpoch(account, { epoch: 1, identity: '' });
    const provider = openProvider([{ name: account, kubeconfigFile: kubeconfig }], { cache });
    const providers = new ProviderSet([provider]);
    const system = { ...engines, store };
    const deploy = async (manifest: JsonObject, app: string): Promise<string | undefined> => {
      const context = { account, moniker: { app }, source: 'text', manifests: [manifest] };
      const task = await acceptOperations(
        system,
        providers,
        toRequest('kubernetes', 'deployManifest', context),
      );
      await processTaskMessage(system, messageOf(task), {
        findOperation: (...asked) => providers.findOperation(...asked),
        stop: new AbortController().signal,
      });
      return (await store.find(task.id))?.state;
    };
    const listClusters = async (application: string) =>
      (await cache.listAccounts(application, { consistent: true })).flatMap(({ clusters }) => clusters);
    return {
      deploy,
      listClusters,
      async [Symbol.asyncDispose]() {
        await providers[Symbol.asyncDispose]();
        await engines[Symbol.asyncDispose]();
      },
    };
  }

  test('five calls of the store are waited for, one after the other', async () => {
    await using ns = await createNamespace();
    await using proxy = await startApiProxy(cluster, {
      async before({ method }) {
        log.begin(log.cluster, method);
        if (method === 'POST') await log.passPost();
      },
      cut() {
        log.end(log.cluster.at(-1));
        return false;
      },
    });
    await using system = await open(proxy.kubeconfig);
    for (const name of ['before', 'web']) {
      log.clear();
      const workload = createWorkload('Deployment', name, { replicas: 0 });
      const manifest = { ...workload, metadata: { name, namespace: ns.name } };
      expect(await system.deploy(manifest, ns.name)).toBe('COMPLETED');
    }
    const commit = log.store.findLast(({ what }) => /^Update.*"COMPLETED"/.test(what));
    const calls = log.store.filter(({ end }) => end <= (commit?.end ?? 0));
    expect(log.cluster.map(({ what }) => what)).toEqual(['GET', 'POST']);
    expect(findLongestChain(calls, log.cluster).map((call) => call.slice(0, 200))).toHaveLength(5);
    expect(await system.listClusters(ns.name)).toEqual(['deployment before', 'deployment web']);
  });
});
