import { setTimeout as sleep } from 'node:timers/promises';
import type { ConcurrencyLimit } from '#core/concurrency.ts';
import type { ApiClient } from './api-client.ts';
import type { BenchServer } from './bench-server.ts';
import type { Floor } from './floor.ts';
import { type Measured, type Row, type SampleCounts, takeMemory, takeSamples } from './rows.ts';
import { type SampleDeploy, toDeployRequest } from './sample-objects.ts';

/**
 * Milliseconds between two samples: what comes after a deploy (events here, controllers in the cluster) shares the machine's
 * processors and is not what is measured.
 */
const settlePauseMs = 20;

/** Deploys of which the processor time is read together: Linux counts it in ticks of 10 ms. */
const deploysTogether = 10;

export interface DeployContext {
  readonly server: BenchServer;
  readonly client: ApiClient;
  readonly floor: Floor;
  /** Does work while no other server is measured. */
  readonly alone: ConcurrencyLimit;
  /** Empty when the rows begin. */
  readonly namespace: string;
}

type DeployCounts = Pick<SampleCounts, 'samples' | 'warmUp'>;

export interface DeploySizes extends DeployCounts {
  /** Of deploys to a process that has just started: few, for they make it warm. */
  readonly cold: DeployCounts;
  /** Deploys after which the memory is read; more when the rows before make more. */
  readonly deploysForMemory: number;
  /** Milliseconds without calls before the memory of an idle server is read. */
  readonly idleMs: number;
}

/**
 * The rows of deploys: new, unchanged and changed, to a process that has just started and then to a warm one, each alternating with its
 * floor; processor time and memory around them.
 */
export function createDeployRows(sizes: DeploySizes): Row<DeployContext>[] {
  const batches = Math.max(3, Math.ceil(sizes.samples / deploysTogether));
  const { cold } = sizes;
  const each = sizes.samples + sizes.warmUp + cold.samples + cold.warmUp;
  const timed = 3 * each + (batches + 1) * deploysTogether;
  const deploys = Math.max(timed, sizes.deploysForMemory);
  const deploy = ({ client, server, namespace }: DeployContext, options: DeployedThing): Promise<number> =>
    client.deploy(toDeployRequest({ account: server.account, namespace, ...options }));
  const coldly = { sizes: cold, deploy, what: 'cold' } as const;
  const warmly = { sizes, deploy, what: 'bench' } as const;
  return [
    {
      name: 'memory when idle',
      unit: 'MiB',
      aim: 100,
      async measure({ server, client }) {
        await client.get('/credentials');
        await sleep(sizes.idleMs);
        return takeMemory(server);
      },
    },
    createTimedRow('new', { ...coldly, aim: 28, peerFactor: 1.2 }),
    createTimedRow('unchanged', { ...coldly, aim: 13, peerFactor: 1.5 }),
    createTimedRow('changed', { ...coldly, aim: 28, peerFactor: 1.3 }),
    createTimedRow('new', { ...warmly, aim: 24, peerFactor: 0.9 }),
    createTimedRow('unchanged', { ...warmly, aim: 10.5, peerFactor: 1.1 }),
    createTimedRow('changed', { ...warmly, aim: 26, peerFactor: 1 }),
    {
      name: 'processor time of one deploy, with its polls',
      unit: 'ms',
      aim: 15,
      measure: (context) =>
        measureProcessorTime(context, {
          batches,
          deploy: (index) => deploy(context, { name: `batch-${index}`, revision: 1 }),
        }),
    },
    {
      name: `memory after ${deploys} deploys`,
      unit: 'MiB',
      aim: 140,
      async measure(context) {
        for (let index = timed; index < deploys; index += 1) {
          await deploy(context, { name: `more-${index}`, revision: 1 });
        }
        return takeMemory(context.server);
      },
    },
  ];
}

type DeployedThing = Pick<SampleDeploy, 'name' | 'revision'>;

interface TimedRowOptions {
  readonly sizes: DeployCounts;
  deploy(context: DeployContext, options: DeployedThing): Promise<number>;
  /** How the names of the Deployments begin; `cold` for the first ones of a process. */
  readonly what: 'bench' | 'cold';
  readonly aim: number;
  readonly peerFactor: number;
}

function createTimedRow(
  kind: 'new' | 'unchanged' | 'changed',
  { sizes, deploy, what, aim, peerFactor }: TimedRowOptions,
): Row<DeployContext> {
  const measureFloor = (floor: Floor, name: string): Promise<number> => {
    if (kind === 'new') return floor.measureNew(name);
    return kind === 'changed' ? floor.measureChanged(name) : floor.measureUnchanged(name);
  };
  return {
    name: `deploy, ${kind}${what === 'cold' ? ', cold' : ''}: POST to completed`,
    unit: 'ms',
    aim,
    peerFactor,
    measure: (context) =>
      takeSamples({
        // The rows deploy the same names, so that each must take all its samples.
        ...{ ...sizes, budgetMs: Number.POSITIVE_INFINITY },
        ...{ server: context.server, alone: context.alone },
        async sample(index) {
          await sleep(settlePauseMs);
          return deploy(context, { name: `${what}-${index}`, revision: kind === 'changed' ? 2 : 1 });
        },
        async floor(index) {
          await sleep(settlePauseMs);
          return measureFloor(context.floor, `floor-${what}-${index}`);
        },
      }),
  };
}

async function measureProcessorTime(
  { server: { readFigures }, alone }: DeployContext,
  { batches, deploy }: { batches: number; deploy(index: number): Promise<number> },
): Promise<Measured> {
  if (readFigures === undefined) throw new Error('no --peer-pid');
  const samples: number[] = [];
  for (let batch = 0; batch <= batches; batch += 1) {
    const usedMs = await alone(async () => {
      const before = await readFigures();
      for (let index = 0; index < deploysTogether; index += 1) {
        await sleep(settlePauseMs);
        await deploy(batch * deploysTogether + index);
      }
      return (await readFigures()).processorMs - before.processorMs;
    });
    // The first one warms up.
    if (batch > 0) samples.push(usedMs / deploysTogether);
  }
  return { samples };
}
