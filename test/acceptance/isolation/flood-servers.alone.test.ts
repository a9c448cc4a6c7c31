import { afterAll, beforeAll, expect, it } from 'vitest';
import { hostileArtifactHosts, type StartedHost } from '#test/support/artifacts/hostile-artifact-hosts.ts';
import { describeWithCluster } from '#test/support/cluster/cluster.ts';
import { hostileServers } from '#test/support/network/hostile-servers.ts';
import { chooseSize } from '#test/support/run/test-size.ts';
import { FloodBench, givenBackMs, growthMax, waitMax } from './flood-bench.ts';

/** Requests at a time that lead to a hostile server, and milliseconds after which they are given up. */
const concurrentReads = 4;
const serverMs = chooseSize({ short: 2_500, long: 5_000 });

/** Those of which each takes something else: bytes, memory, processor time, connections. The tests of artifacts ask all of them. */
const costliestHosts = new Set([
  'body without end',
  'body without end, in pieces of one byte',
  'gzip bomb of 4 GiB in 4 MiB',
  'silence',
  'one header of a gigabyte',
  'JSON of a million levels',
]);

const timeout = 2 * givenBackMs;

describeWithCluster('while servers mean harm', (cluster) => {
  const servers = new AsyncDisposableStack();
  let bench: FloodBench;
  beforeAll(async () => {
    const started = await Promise.all(hostileServers.map(async ({ start }) => servers.use(await start())));
    const hostileKubeconfigs = started.map(({ kubeconfig }) => kubeconfig);
    bench = await FloodBench.start({ cluster, hostileKubeconfigs });
  });
  afterAll(async () => {
    await bench[Symbol.asyncDispose]();
    await servers.disposeAsync();
  });

  // Hosts first: one that is silent is waited for while the API servers have their turns.
  const hosts = new Map<string, StartedHost>();
  for (const { name, start } of hostileArtifactHosts.filter(({ name }) => costliestHosts.has(name))) {
    it(`nobody else waits, by a host of artifacts: ${name}`, { timeout }, async () => {
      const host = servers.use(await start());
      hosts.set(name, host);
      const artifact = { type: 'http/file', artifactAccount: 'http', reference: `${host.url}/a` };
      await expectNoHarm('/artifacts/fetch', { method: 'PUT', body: JSON.stringify(artifact) });
    });
  }

  for (const [index, { name }] of hostileServers.entries()) {
    it(`nobody else waits, by an API server: ${name}`, { timeout }, () =>
      expectNoHarm(`/manifests/hostile-${index}/default/configMap%20a`),
    );
  }

  it('no host is read for whom nobody waits: a handful would take the processor for minutes', async () => {
    const listRead = () => [...hosts].flatMap(([name, { connections }]) => (connections > 0 ? [name] : []));
    await expect.poll(listRead).toEqual([]);
  });

  it('memory is given back', { timeout }, () => bench.expectMemoryBack());

  /** Has a hostile server asked some times at once, as long as it is asked at most. */
  async function expectNoHarm(path: string, init: RequestInit = {}): Promise<void> {
    // One at a time: what the one before took is given back.
    await bench.expectMemoryBack();
    const innocent = bench.watchInnocent();
    const growth = bench.watchGrowth();
    const signal = AbortSignal.timeout(serverMs);
    const headers = { 'content-type': 'application/json' };
    const ask = () =>
      fetch(new URL(path, bench.system.url), { ...init, headers, signal })
        .then((response) => response.arrayBuffer())
        .catch(() => undefined);
    await Promise.all(Array.from({ length: concurrentReads }, ask));
    const waits = await innocent.stop();
    const grownMiB = await growth.stop();

    expect(Math.max(...waits.map(({ ms }) => ms)), JSON.stringify(waits.slice(0, 50))).toBeLessThan(waitMax);
    expect(grownMiB).toBeLessThan(growthMax);
  }
});
