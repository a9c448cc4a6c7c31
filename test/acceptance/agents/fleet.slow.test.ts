import { expect, test, vi } from 'vitest';
import { mapConcurrently } from '#core/concurrency.ts';
import { getPathOf } from '#test/shared/providers/kubernetes/live.ts';
import { createTokenSigner, toAgentAccount } from '#test/support/agents/agent-process.ts';
import { startWorld } from '#test/support/agents/agent-world.ts';
import { createNamespace, describeWithCluster, requestApi } from '#test/support/cluster/cluster.ts';
import { chooseSize } from '#test/support/run/test-size.ts';
import { readMemoryMiB } from '#test/support/system/process-memory.ts';
import type { System } from '#test/support/system/system.ts';
import { type CountingDoor, startCountingDoor } from './drills/counting-door.ts';
import { awaitDeploy, type Deploy, postDeploy } from './drills/deploys.ts';
import { type Fleet, startFleet } from './drills/fleet.ts';

/**
 * Agents, each with an account of its own, processes that they share, and the settings under which they come back: a hundred at the default
 * pace would be there at once, and what a busy machine does to one second would count more than what they do.
 */
const { agents, processes, limits } = chooseSize<{ agents: number; processes: number; limits: object }>({
  short: { agents: 100, processes: 2, limits: { returnIntervalMs: 150, pollConnectedMs: 5_000 } },
  long: { agents: 1_000, processes: 10, limits: {} },
});

const connectedMs = 60_000;
const deployedMs = 120_000;
const backMs = 90_000;
/** Connections that are asked for within any second, whether or not there is a Busdriver to take them. */
const connectsMax = 50;
const growthMiBMax = 40;

const concurrency = 16;

describeWithCluster(`${agents} agents in ${processes} processes`, (cluster) => {
  test(
    'connect, deploy, and come back after Busdriver was killed, without a storm',
    async () => {
      await using stack = new AsyncDisposableStack();
      const signer = await createTokenSigner();
      // One of all: namespaces by the hundred would keep the cluster's controllers busy for all other suites.
      const { name: namespace } = stack.use(await createNamespace('fleet'));
      const names = Array.from({ length: agents }, (_, index) => `fleet-${index}`);
      const accounts = names.map((name) => ({ ...toAgentAccount(name, signer), namespaces: [namespace] }));
      // Nothing is cached: what each agent watches would be the load, all of it on one machine.
      const { system } = stack.use(
        await startWorld(accounts, { signer, keepsPort: true, agents: { limits } }),
      );
      const port = Number(new URL(system.url).port);
      const door = stack.use(await startCountingDoor(port));
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
      await awaitConnected(fleet, 4 * connectedMs);
      const tookConnectMs = performance.now() - startedMs;
      await awaitPlaces(door);
      const growthMiB = (await readMemoryMiB(system.pid)) - idleMiB;

      const drill = { system, fleet, names, namespace };
      const first = await deployAll(drill, 'one');
      const second = await killAmidDeploys(drill);
      const peak = door.readPeakSince(second.killedMs);
      const took = { tookConnectMs, growthMiB, tookDeployMs: first.tookMs, tookBackMs: second.tookBackMs };
      console.log(JSON.stringify({ agents, ...took, peak, firstPeak: door.readPeakSince(0) }));

      expect([...first.failed, ...second.failed]).toEqual([]);
      expect(await listConfigMaps(namespace)).toEqual(
        names.flatMap((name) => [`${name}-one-v000`, `${name}-two-v000`]).toSorted(),
      );
      expect(fleet.troubles).toEqual([]);
      expect(fleet.sessions).toBe(agents);
      expect(tookConnectMs).toBeLessThan(connectedMs);
      expect(first.tookMs).toBeLessThan(deployedMs);
      expect(second.tookBackMs).toBeLessThan(backMs);
      expect(peak).toBeLessThanOrEqual(connectsMax);
      expect(growthMiB).toBeLessThan(growthMiBMax);
    },
    connectedMs + deployedMs + backMs + 600_000,
  );
});

interface FleetDrill {
  readonly system: System;
  readonly fleet: Fleet;
  /** Of the accounts. */
  readonly names: readonly string[];
  readonly namespace: string;
}

async function awaitConnected(fleet: Fleet, timeout: number): Promise<void> {
  await vi.waitFor(() => expect(fleet.connected).toBe(agents), { timeout, interval: 100 });
}

/** Who came first was told a place among few: each knows its place among all once it has asked again. */
async function awaitPlaces(door: CountingDoor): Promise<void> {
  const sinceMs = performance.now();
  const haveAllAsked = (): void => expect(door.countAskingSince(sinceMs)).toBe(agents);
  await vi.waitFor(haveAllAsked, { timeout: connectedMs, interval: 100 });
}

function post({ system, namespace }: FleetDrill, account: string, suffix: string): Promise<Deploy> {
  const name = `${account}-${suffix}`;
  const manifests = [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data: { name } }];
  return postDeploy(system, { account, namespace, name, app: namespace, manifests });
}

/** Tasks of deploys that failed, once all of them have ended. */
async function listFailed({ system }: FleetDrill, deploys: readonly Deploy[], timeoutMs: number) {
  const ends = await mapConcurrently(deploys, concurrency, (each) => awaitDeploy(system, each, timeoutMs));
  return ends.filter(({ task }) => task.status.failed);
}

async function deployAll(drill: FleetDrill, name: string) {
  const startedMs = performance.now();
  const posted = await mapConcurrently(drill.names, concurrency, (account) => post(drill, account, name));
  const failed = await listFailed(drill, posted, deployedMs);
  return { failed, tookMs: performance.now() - startedMs };
}

/** Kills Busdriver while a third of all deploys is accepted, and starts it again. */
async function killAmidDeploys(drill: FleetDrill) {
  const { system, fleet, names } = drill;
  let accepted = 0;
  const posting = mapConcurrently(names, concurrency, async (account) => {
    const posted = await post(drill, account, 'two');
    accepted += 1;
    return posted;
  });
  const areAccepted = (): void => expect(accepted).toBeGreaterThan(agents / 3);
  await vi.waitFor(areAccepted, { timeout: deployedMs, interval: 5 });
  await system.kill('SIGKILL');
  const killedMs = performance.now();
  await system.restart();
  const restartedMs = performance.now();
  const back = awaitConnected(fleet, 2 * backMs).then(() => performance.now() - restartedMs);
  const failed = await listFailed(drill, await posting, 2 * backMs);
  return { failed, killedMs, tookBackMs: await back };
}

/** Names of the ConfigMaps that were deployed. */
async function listConfigMaps(namespace: string): Promise<string[]> {
  const target = getPathOf(namespace, `configmaps?labelSelector=app.kubernetes.io%2Fname%3D${namespace}`);
  const { items } = (await requestApi('GET', target)) as { items: { metadata: { name: string } }[] };
  return items.map(({ metadata }) => metadata.name).toSorted();
}
