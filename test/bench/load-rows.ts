import { setTimeout as sleep } from 'node:timers/promises';
import type { ConcurrencyLimit } from '#core/concurrency.ts';
import { type ApiClient, BusyError } from './api-client.ts';
import type { BenchServer } from './bench-server.ts';
import type { Row, RowHead } from './rows.ts';
import { application, toConfigMap, toDeployment, toManifestRequest } from './sample-objects.ts';
import { measure } from './statistics.ts';

/** Milliseconds after which a refused client comes again, as `Retry-After: 1` asks. */
const retryPauseMs = 1_000;

export interface LoadContext {
  readonly server: BenchServer;
  /** With a connection for each client of the largest load. */
  readonly client: ApiClient;
  /** Does work while no other server is measured. */
  readonly alone: ConcurrencyLimit;
  /** Empty when the rows begin. */
  readonly namespace: string;
  /** Waits until the cluster's controllers have done what former loads gave them to do: not the next server shall meet it. */
  settle(): Promise<void>;
  /** What the loads came to, by their names; empty when the rows begin. */
  readonly loads: Map<string, Load>;
}

export interface LoadSizes {
  readonly load: {
    /** Clients that deploy a fixed number of objects. */
    readonly clients: number;
    readonly deployments: number;
    readonly configMaps: number;
    /** Numbers of clients that deploy or read for a while, and how long in milliseconds. */
    readonly ramp: readonly number[];
    readonly rampMs: number;
  };
}

/** What many clients at once came to. */
interface Load {
  /** Milliseconds of each request, or of each deploy from POST to completed. */
  readonly samples: readonly number[];
  /** Times that 503 was answered. */
  readonly refused: number;
  readonly tookMs: number;
}

interface LoadPlan {
  readonly name: string;
  readonly clients: number;
  readonly work: (context: LoadContext, index: number) => Promise<number>;
  /** Ends after so many, or after so many milliseconds. */
  readonly until: { readonly count: number } | { readonly ms: number };
  readonly p95Aim?: number;
}

/** Clients at once: how much is done in a second, how long 95 of 100 take at most, and how many are refused. */
export function createLoadRows({ load }: LoadSizes): Row<LoadContext>[] {
  const { clients, deployments, configMaps, ramp, rampMs } = load;
  const deploy =
    (toManifest: (options: Parameters<typeof toDeployment>[0]) => object, prefix: string) =>
    ({ client, server, namespace }: LoadContext, index: number): Promise<number> => {
      const manifest = toManifest({ namespace, name: `${prefix}-${index}`, revision: 1 });
      return client.deploy(toManifestRequest({ account: server.account, application, manifest }));
    };
  const path = `/applications/${application}/serverGroups`;
  const read = ({ client }: LoadContext): Promise<number> => measure(() => client.get(path));
  const fixed = { clients, p95Aim: 250 };
  const plans: readonly LoadPlan[] = [
    {
      ...{ ...fixed, name: `${deployments} new Deployments of one application, ${clients} clients` },
      ...{ until: { count: deployments }, work: deploy(toDeployment, 'load') },
    },
    {
      ...{ ...fixed, name: `${configMaps} new ConfigMaps, ${clients} clients` },
      ...{ until: { count: configMaps }, work: deploy(toConfigMap, 'load') },
    },
    ...ramp.map((each) => ({
      ...{ name: `new ConfigMaps, ${each} clients`, clients: each, until: { ms: rampMs } },
      work: deploy(toConfigMap, `ramp-${each}`),
    })),
    ...ramp.map((each) => ({
      ...{ name: `serverGroups of ${deployments} Deployments, ${each} clients`, clients: each },
      ...{ until: { ms: rampMs }, work: read },
    })),
  ];
  return plans.flatMap(toRows);
}

function toRows(plan: LoadPlan): Row<LoadContext>[] {
  const toRow = (head: RowHead, find: (load: Load) => readonly number[]): Row<LoadContext> => ({
    ...head,
    async measure(context) {
      const known = context.loads.get(plan.name) ?? (await context.alone(() => run(plan, context)));
      context.loads.set(plan.name, known);
      return { samples: find(known) };
    },
  });
  const { name, p95Aim: aim } = plan;
  return [
    toRow({ name: `${name}: done`, unit: '/s' }, ({ samples, tookMs }) => [
      (samples.length / tookMs) * 1_000,
    ]),
    toRow({ name: `${name}: 95 of 100 take at most`, unit: 'ms', ...(aim && { aim }) }, ({ samples }) => [
      samples.toSorted((one, other) => one - other)[Math.ceil(0.95 * samples.length) - 1] ?? Number.NaN,
    ]),
    toRow({ name: `${name}: refused`, unit: '/s' }, ({ refused, tookMs }) => [(refused / tookMs) * 1_000]),
  ];
}

async function run({ clients, work, until }: LoadPlan, context: LoadContext): Promise<Load> {
  await context.settle();
  const startMs = performance.now();
  const samples: number[] = [];
  let [begun, refused] = [0, 0];
  const goesOn = (): boolean =>
    'count' in until ? begun < until.count : performance.now() - startMs < until.ms;
  const call = async (): Promise<void> => {
    while (goesOn()) {
      const index = begun;
      begun += 1;
      try {
        samples.push(await work(context, index));
      } catch (error) {
        if (!(error instanceof BusyError)) throw error;
        refused += 1;
        await sleep(retryPauseMs);
      }
    }
  };
  await Promise.all(Array.from({ length: clients }, call));
  return { samples, refused, tookMs: performance.now() - startMs };
}
