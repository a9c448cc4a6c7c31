import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { CachingAgent } from '#caching/scheduling/caching-agent.ts';
import { runStreams } from '#caching/scheduling/streams/run-streams.ts';
import type { StreamMessage } from '#caching/scheduling/streams/stream-queue.ts';
import type { StreamSystem } from '#caching/scheduling/streams/stream-worker.ts';
import type { CacheStore } from '#caching/store/cache-store.ts';
import { cacheTable } from '#platform/aws/tables.ts';
import { systemClock, systemRandomness } from '#platform/services/system.ts';
import { openAgents } from '#test/contracts/agent-bench.ts';
import { openCache } from '#test/contracts/cache-bench.ts';
import { createNamespace, describeWithCluster, requestApi } from '#test/support/cluster/cluster.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';
import { createTestClock } from '#test/support/run/test-clock.ts';
import { silentLog } from '../client/client-setup.ts';
import { startScriptedServer, toBase64, toKubeconfig } from '../client/scripted-server.ts';
import { startTcpForwarder } from '../transport/tcp-forwarder.ts';
import { listCached, listLive, openWatchBench, until, type WatchBench } from './watch-bench.ts';

const openTable = useLocalTables();
const openStore = (): CacheStore => openCache(openTable(cacheTable), createTestClock()).store;

describeWithCluster('watching an account', (cluster) => {
  /** Waits until the cache has what the cluster has. */
  async function untilEqual(cache: CacheStore, { account }: WatchBench, namespace: string): Promise<void> {
    const compare = async () => {
      const [live, cached] = [await listLive(namespace), await listCached(cache, account, namespace)];
      return { live, cached, isEqual: live.join() === cached.join() };
    };
    await until(async () => (await compare()).isEqual, { withinMs: 30_000, describe: compare });
  }

  it('shows what is made, changed and deleted within moments', async () => {
    await using namespace = await createNamespace('watch');
    const cache = openStore();
    await using bench = openWatchBench({ cache, account: { namespaces: [namespace.name] } });
    const services = new Services(namespace.name);
    await services.make('old');
    const watched = bench.watch();
    await untilEqual(cache, bench, namespace.name);

    const startedAtMs = performance.now();
    await services.make('new');
    await untilEqual(cache, bench, namespace.name);
    await services.change('old');
    await untilEqual(cache, bench, namespace.name);
    await services.remove('old');
    await untilEqual(cache, bench, namespace.name);
    expect(performance.now() - startedAtMs).toBeLessThan(10_000);

    await until(() => watched.progress?.items === 1);
    const { outcome, asOfMs } = await watched.stop();
    expect(outcome).toBe('done');
    expect(asOfMs).toBeGreaterThan(0);
  });

  it('misses nothing when all watches break at once, and tells no error of it', async () => {
    await using namespace = await createNamespace('watch');
    await using forwarder = await startTcpForwarder(Number(new URL(cluster.server).port));
    const authority = toBase64(await readFile(cluster.caFile, 'utf8'));
    const kubeconfigContents = toKubeconfig(
      { server: `https://127.0.0.1:${forwarder.port}`, 'certificate-authority-data': authority },
      { token: cluster.token },
    );
    const cache = openStore();
    const account = { namespaces: [namespace.name], kubeconfigFile: null, kubeconfigContents };
    await using bench = openWatchBench({ cache, account });
    const services = new Services(namespace.name);
    await services.make('first');
    const watched = bench.watch();
    await untilEqual(cache, bench, namespace.name);
    for (const round of [1, 2, 3]) {
      forwarder.cut();
      await services.make(`round-${round}`);
      await services.change('first');
      forwarder.cut();
    }
    await untilEqual(cache, bench, namespace.name);
    expect(watched.progress?.error).toBeUndefined();
    await watched.stop();
  });

  it('equals the cluster after a storm in which watchers die, and others begin where they had been', async () => {
    await using namespace = await createNamespace('watch');
    const cache = openStore();
    await using bench = openWatchBench({ cache, account: { namespaces: [namespace.name] } });
    const storm = rage(new Services(namespace.name), 300);
    let isOver = false;
    void storm.finally(() => {
      isOver = true;
    });
    let state: string | undefined;
    let watched = bench.watch();
    for (let deaths = 0; !isOver || deaths < 3; deaths += 1) {
      await sleep(300 + 700 * Math.random());
      // What it had not told is lost.
      const told = watched.progress?.state;
      void watched.stop().catch(() => undefined);
      watched = bench.watch(state);
      state = told ?? state;
    }
    await storm;
    await untilEqual(cache, bench, namespace.name);
    // It may still be at its first run, which then ends with the reason.
    await watched.stop().catch(() => undefined);
  });

  it('goes on through hand-overs: changes made all the while are all there', async () => {
    await using namespace = await createNamespace('watch');
    const cache = openStore();
    await using bench = openWatchBench({ cache, account: { namespaces: [namespace.name] } });
    const workers = await openWorkers(cache, [bench.agent]);
    const storm = rage(new Services(namespace.name), 200);
    let worker = workers.start({ agents: [{ account: bench.account, name: bench.agent.name }] });
    for (const _ of [1, 2, 3]) {
      await sleep(1_000);
      worker.handOver();
      await until(() => workers.sent.length > 0);
      const successor = workers.start(workers.sent.shift() as StreamMessage);
      await worker.done;
      worker = successor;
    }
    await storm;
    await untilEqual(cache, bench, namespace.name);
    const [agent] = (await workers.list()).filter(({ account }) => account === bench.account);
    expect(agent).toMatchObject({ failures: 0, attempts: 1 });
    await worker.stop();
  }, 180_000);

  it('is not held up by another account whose cluster does not answer', async () => {
    await using namespace = await createNamespace('watch');
    await using hanging = await startScriptedServer();
    hanging.script(() => undefined);
    const cache = openStore();
    const dead = { kubeconfigFile: null, kubeconfigContents: hanging.getKubeconfig() };
    await using sick = openWatchBench({ cache, account: dead });
    await using healthy = openWatchBench({ cache, account: { namespaces: [namespace.name] } });
    const agents = [sick.agent, healthy.agent];
    const workers = await openWorkers(cache, agents);
    const worker = workers.start({ agents: agents.map(({ account, name }) => ({ account, name })) });
    await new Services(namespace.name).make('fast');
    await untilEqual(cache, healthy, namespace.name);
    await worker.stop();
  });
});

/** Workers of the given agents on a store, with the machine's time. */
async function openWorkers(cache: CacheStore, agents: readonly CachingAgent[]) {
  const { store } = openAgents(openTable(cacheTable), createTestClock());
  await store.sync([...(await store.list()).filter(({ removedAtMs }) => !removedAtMs), ...agents]);
  const sent: StreamMessage[] = [];
  const system: StreamSystem = {
    cache,
    agents: store,
    streams: { send: async (message) => void sent.push(message) },
    clock: systemClock,
    randomness: systemRandomness,
    log: silentLog,
    host: 'test',
    bus: { publish: async () => undefined },
    recordLags: () => undefined,
    recordTooLarge: () => undefined,
  };
  return {
    sent,
    list: () => store.list(),
    start(message: StreamMessage) {
      const [handOver, stop] = [new AbortController(), new AbortController()];
      const loadAgents = async () => (key: { account: string }) =>
        agents.find(({ account }) => account === key.account);
      const done = runStreams(system, message, { loadAgents, handOver: handOver.signal, stop: stop.signal });
      return {
        done,
        handOver: () => handOver.abort(),
        stop() {
          stop.abort();
          return done;
        },
      };
    },
  };
}

/** Services of a namespace: small, and nobody else changes them. */
class Services {
  readonly #path: string;

  constructor(namespace: string) {
    this.#path = `/api/v1/namespaces/${namespace}/services`;
  }

  async make(name: string): Promise<void> {
    const spec = { ports: [{ port: 80 }], selector: { app: name } };
    await requestApi('POST', this.#path, { apiVersion: 'v1', kind: 'Service', metadata: { name }, spec });
  }

  async change(name: string): Promise<void> {
    const color = String(Math.random());
    await requestApi('PATCH', `${this.#path}/${name}`, { metadata: { annotations: { color } } });
  }

  async remove(name: string): Promise<void> {
    await requestApi('DELETE', `${this.#path}/${name}`);
  }
}

/** So many changes, one after the other. */
async function rage(services: Services, changes: number): Promise<void> {
  const names: string[] = [];
  for (let count = 0; count < changes; count += 1) {
    const name = names[Math.floor(Math.random() * names.length)];
    const dice = Math.random();
    if (name === undefined || dice < 0.4) {
      names.push(`service-${count}`);
      await services.make(`service-${count}`);
    } else if (dice < 0.75) await services.change(name);
    else {
      names.splice(names.indexOf(name), 1);
      await services.remove(name);
    }
  }
}
