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

export interface DeploySizes extends Pick<SampleCounts, 'samples' | 'warmUp'> {
  /** Deploys after which the memory is read; more when the rows before make more. */
  readonly deploysForMemory: number;
  /** Milliseconds without calls before the memory of an idle server is read. */
  readonly idleMs: number;
}

/** The rows of deploys: new, unchanged and changed, each alternating with its floor; processor time and memory around them. */
export function createDeployRows(sizes: DeploySizes): Row<DeployContext>[] {
  const batches = Math.max(3, Math.ceil(sizes.samples / deploysTogether));
  const timed = 3 * (sizes.samples + sizes.warmUp) + (batches + 1) * deploysTogether;
  const deploys = Math.max(timed, sizes.deploysForMemory);
  const deploy = ({ client, server, namespace }: DeployContext, options: DeployedThing): Promise<number> =>
    client.deploy(toDeployRequest({ account: server.account, namespace, ...options }));
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
    createTimedRow('new', { sizes, deploy, revision: 1, aim: 24, peerFactor: 1 }),
    createTimedRow('unchanged', { sizes, deploy, revision: 1, aim: 10.5, peerFactor: 1.5 }),
    createTimedRow('changed', { sizes, deploy, revision: 2, aim: 26, peerFactor: 1 }),
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
      aim: 130,
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
  readonly sizes: DeploySizes;
  deploy(context: DeployContext, options: DeployedThing): Promise<number>;
  readonly revision: number;
  readonly aim: number;
  readonly peerFactor: number;
}

function createTimedRow(
  kind: 'new' | 'unchanged' | 'changed',
  { sizes, deploy, revision, aim, peerFactor }: TimedRowOptions,
): Row<DeployContext> {
  const measureFloor = (floor: Floor, name: string): Promise<number> => {
    if (kind === 'new') return floor.measureNew(name);
    return kind === 'changed' ? floor.measureChanged(name) : floor.measureUnchanged(name);
  };
  return {
    name: `deploy, ${kind}: POST to completed`,
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
          return deploy(context, { name: `bench-${index}`, revision });
        },
        async floor(index) {
          await sleep(settlePauseMs);
          return measureFloor(context.floor, `floor-${index}`);
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
