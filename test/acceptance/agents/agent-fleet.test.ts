import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test, vi } from 'vitest';
import { mapConcurrently } from '../../../shared/core/concurrency.ts';
import { createTokenSigner, findFreePort, toAgentAccount } from '../../support/agents/agent-process.ts';
import { createNamespace, describeWithCluster, requestApi } from '../../support/cluster/cluster.ts';
import { makeTempDir } from '../../support/run/temp-dir.ts';
import { chooseSize } from '../../support/run/test-size.ts';
import { readMemoryMiB } from '../../support/system/process-memory.ts';
import { type System, startSystem } from '../../support/system/system.ts';
import { startCountingDoor } from './drills/counting-door.ts';
import { awaitDeploy, type Deploy, postDeploy } from './drills/deploys.ts';
import { startFleet } from './drills/fleet.ts';

/**
 * Agents, each with an account of its own, processes that they share, and the settings under which they come back: a hundred at the default
 * pace would be there at once, and what a busy machine does to one second would count more than what they do.
 */
const { agents, processes, limits } = chooseSize<{ agents: number; processes: number; limits: object }>({
  short: { agents: 100, processes: 2, limits: { returnIntervalMs: 150, pollConnectedMs: 5_000 } },
  long: { agents: 1_000, processes: 10, limits: {} },
});

/** Bounds of the drill. */
const connectedMs = 60_000;
const deployedMs = 120_000;
const backMs = 90_000;
/** Connections that are asked for within any second, whether or not there is a Busdriver to take them. */
const connectsMax = 50;
const growthMiBMax = 40;

/** Calls that are made together. */
const concurrency = 16;

describeWithCluster(`${agents} agents in ${processes} processes`, (cluster) => {
  test(
    'connect, deploy, and come back after Busdriver was killed, without a storm',
    async () => {
      await using stack = new AsyncDisposableStack();
      const signer = await createTokenSigner();
      const namespaces = await mapConcurrently(Array.from({ length: agents }), concurrency, () =>
        createNamespace('fleet'),
      );
      for (const namespace of namespaces) stack.use(namespace);
      const names = namespaces.map(({ name }) => name);
      const port = await findFreePort();
      const system = stack.use(
        await startServer(
          names.map((name) => ({ ...toAgentAccount(name, signer), namespaces: [name] })),
          port,
          stack,
        ),
      );
      const door = stack.use(await startCountingDoor(port));
      const app = `fleet-${port}`;
      const idleMiB = await readMemoryMiB(system.pid);

      const startedMs = performance.now();
      const fleet = stack.use(
        await startFleet({
          url: `http://127.0.0.1:${door.port}`,
          token: await signer.sign({ lifeSeconds: 3_600 }),
          kubeConfigFile: cluster.kubeconfig,
          accounts: names,
          processes,
        }),
      );
      const awaitConnected = (timeout: number) =>
        vi.waitFor(() => expect(fleet.connected).toBe(agents), { timeout, interval: 100 });
      await awaitConnected(4 * connectedMs);
      const tookConnectMs = performance.now() - startedMs;
      // Who came first was told a place among few: each knows its place among all once it has asked again.
      const allConnectedMs = performance.now();
      await vi.waitFor(() => expect(door.countAskingSince(allConnectedMs)).toBe(agents), {
        timeout: connectedMs,
        interval: 100,
      });
      const growthMiB = (await readMemoryMiB(system.pid)) - idleMiB;

      const firstMs = performance.now();
      const first = await mapConcurrently(names, concurrency, (name) =>
        deploy(system, { name, app, round: 'one' }),
      );
      const firstEnds = await mapConcurrently(first, concurrency, (each) =>
        awaitDeploy(system, each, deployedMs),
      );
      const tookDeployMs = performance.now() - firstMs;

      let accepted = 0;
      const second = mapConcurrently(names, concurrency, async (name) => {
        const posted = await deploy(system, { name, app, round: 'two' });
        accepted += 1;
        return posted;
      });
      await vi.waitFor(() => expect(accepted).toBeGreaterThan(agents / 3), {
        timeout: deployedMs,
        interval: 5,
      });
      await system.kill('SIGKILL');
      const killedMs = performance.now();
      await system.restart();
      const restartedMs = performance.now();
      const back = awaitConnected(2 * backMs).then(() => performance.now() - restartedMs);
      const secondEnds = await mapConcurrently(await second, concurrency, (each) =>
        awaitDeploy(system, each, 2 * backMs),
      );
      const tookBackMs = await back;
      const peak = door.readPeakSince(killedMs);
      console.log(
        JSON.stringify({
          agents,
          tookConnectMs,
          growthMiB,
          tookDeployMs,
          tookBackMs,
          peak,
          firstPeak: door.readPeakSince(0),
        }),
      );

      expect([...firstEnds, ...secondEnds].filter(({ task }) => task.status.failed)).toEqual([]);
      expect(await listConfigMaps(app)).toEqual(
        names.flatMap((name) => [`${name} one-v000`, `${name} two-v000`]).toSorted(),
      );
      expect(fleet.troubles).toEqual([]);
      expect(fleet.sessions).toBe(agents);
      expect(tookConnectMs).toBeLessThan(connectedMs);
      expect(tookDeployMs).toBeLessThan(deployedMs);
      expect(tookBackMs).toBeLessThan(backMs);
      expect(peak).toBeLessThanOrEqual(connectsMax);
      expect(growthMiB).toBeLessThan(growthMiBMax);
    },
    connectedMs + deployedMs + backMs + 600_000,
  );
});

async function startServer(
  accounts: readonly object[],
  port: number,
  stack: AsyncDisposableStack,
): Promise<System> {
  const dir = stack.use(await makeTempDir());
  const file = path.join(dir.path, 'clouddriver.yml');
  const busdriver = { agents: { enabled: true, limits } };
  // What each agent watches would be the load, all of it on one machine.
  const kubernetes = { accounts, cache: { enabled: false } };
  await writeFile(file, JSON.stringify({ busdriver, kubernetes }));
  return startSystem({ config: [file], args: ['--port', String(port)] });
}

/** Which deploy of an account, whose name is that of its namespace. */
interface FleetDeploy {
  readonly name: string;
  readonly app: string;
  readonly round: string;
}

async function deploy(system: System, { name: namespace, app, round }: FleetDeploy): Promise<Deploy> {
  const metadata = { name: round, namespace };
  const manifests = [{ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { round } }];
  return postDeploy(system, { account: namespace, namespace, name: round, app, manifests });
}

/** Namespaces and names of all ConfigMaps of an application. */
async function listConfigMaps(app: string): Promise<string[]> {
  const target = `/api/v1/configmaps?labelSelector=app.kubernetes.io%2Fname%3D${app}`;
  const { items } = (await requestApi('GET', target)) as {
    items: { metadata: { name: string; namespace: string } }[];
  };
  return items.map(({ metadata }) => `${metadata.namespace} ${metadata.name}`).toSorted();
}
