import { setTimeout as sleep } from 'node:timers/promises';
import { createConcurrencyLimit } from '#core/concurrency.ts';
import { tasksTable } from '#platform/aws/tables.ts';
import { type ApiClient, openApiClient } from './api-client.ts';
import { waitUntilShown } from './application-shown.ts';
import { deleteNamespace, makeApplication, planApplication, waitUntilDeleted } from './bench-world.ts';
import { type ClusterAccess, openClusterClient } from './cluster-access.ts';
import type { EngineCall } from './deployed-engines-main.ts';
import { type DeployedSystem, startDeployedSystem } from './deployed-system.ts';
import { burstConnections, listBurstPaths } from './read-rows.ts';
import {
  type Measured,
  measureAlone,
  type Row,
  type RowResult,
  type SampleCounts,
  takeSamples,
} from './rows.ts';
import { toDeployRequest } from './sample-objects.ts';
import { measure } from './statistics.ts';

export interface DeployedRowOptions {
  readonly cluster: ClusterAccess;
  /** A word of lower-case letters and digits that no run on this control plane had before. */
  readonly run: string;
  readonly sizes: DeployedSizes;
  tell(line: string): void;
}

export interface DeployedSizes extends SampleCounts {
  /** Deployments of the application that is read, with a pod each. */
  readonly deployments: number;
}

interface DeployedContext {
  readonly system: DeployedSystem;
  readonly client: ApiClient;
  /** What is read, and the namespace of all that is deployed. */
  readonly application: string;
}

/** Milliseconds between two samples: what comes after a deploy is not what is measured. */
const settlePauseMs = 200;

/** Milliseconds until a task is asked for whose calls are counted: it is completed by then. */
const countPauseMs = 500;

/** Deploys of which calls are counted. */
const countedDeploys = 5;

/** Measures the deployed functions, on engines that are as far away as in AWS. */
export async function measureDeployed(options: DeployedRowOptions): Promise<RowResult[]> {
  const { cluster, run, sizes, tell } = options;
  await using client = await openClusterClient(cluster);
  const application = planApplication({ run, deployments: sizes.deployments, podsEach: 1 });
  try {
    await makeApplication(application, { cluster, client, tell });
    await using system = await startDeployedSystem(cluster, [application.name]);
    await using api = openApiClient(system.url, { connections: burstConnections });
    const server = { ...system, isPeer: false, findEnd: async () => undefined };
    await waitUntilShown({ server, client: api, application });
    const context = { system, client: api, application: application.name };
    return await measureAlone('Busdriver, deployed', createDeployedRows(sizes), context);
  } finally {
    await deleteNamespace(client, application.name);
    await waitUntilDeleted(client, application.name);
  }
}

/** A row of deploys, new ones or those of the same once more. */
function createDeployRow(kind: 'new' | 'unchanged', sizes: DeployedSizes): Row<DeployedContext> {
  return {
    ...{ name: `as deployed: deploy, ${kind}: POST to completed`, unit: 'ms', aim: 60 },
    measure: (context) =>
      // Both rows deploy the same names, so that each must take all its samples.
      take({ ...sizes, budgetMs: Number.POSITIVE_INFINITY }, async (index) => {
        await sleep(settlePauseMs);
        return context.client.deploy(toRequest(context, `bench-${index}`));
      }),
  };
}

/** The fewest of some deploys: now and then there are other calls at the same time. */
function createCallsRow(kind: 'new' | 'unchanged'): Row<DeployedContext> {
  return {
    ...{ name: `as deployed: calls of AWS one after another, ${kind}`, unit: 'calls' },
    async measure(context) {
      const { system } = context;
      await using client = openApiClient(system.url, { pollPauseMs: countPauseMs });
      const counts: number[] = [];
      for (let index = 0; index < countedDeploys; index += 1) {
        await sleep(settlePauseMs);
        await system.takeCalls();
        await client.deploy(toRequest(context, `counted-${index}`));
        counts.push(countInTurn(await system.takeCalls()));
      }
      return { samples: [Math.min(...counts)] };
    },
  };
}

function toRequest({ system: { account }, application }: DeployedContext, name: string): object[] {
  return toDeployRequest({ account, namespace: application, name, revision: 1 });
}

/** The calls, each begun after the answer to the one before, until a task is completed by the last update of its item. */
function countInTurn(calls: readonly EngineCall[]): number {
  const last = calls.findLastIndex(
    ({ action, table }) => action === 'UpdateItem' && table === tasksTable.name,
  );
  let [count, answeredMs] = [0, 0];
  for (const { startMs, endMs } of calls.slice(0, last + 1)) {
    if (startMs < answeredMs) continue;
    count += 1;
    answeredMs = endMs;
  }
  return count;
}

interface ReadOptions {
  readonly sizes: DeployedSizes;
  /** Of lists of an application, asked for at the same moment. */
  readonly toPaths: (application: string) => readonly string[];
  /** Whether a process has to start for each of them. */
  readonly isCold: boolean;
}

function createReadRow(name: string, { sizes, toPaths, isCold }: ReadOptions): Row<DeployedContext> {
  return {
    ...{ name: `as deployed: ${name}, ${isCold ? 'cold' : 'warm'}`, unit: 'ms' },
    measure: ({ system, client, application }) =>
      take(sizes, async () => {
        if (isCold) await system.endIdle();
        return measure(() => Promise.all(toPaths(application).map((path) => client.get(path))));
      }),
  };
}

function createDeployedRows(sizes: DeployedSizes): Row<DeployedContext>[] {
  const page = `Deck's burst of six lists, ${sizes.deployments} Deployments`;
  const toList = (application: string) => [`/applications/${application}/serverGroups?expand=false`];
  return [
    createDeployRow('new', sizes),
    createDeployRow('unchanged', sizes),
    createCallsRow('new'),
    createCallsRow('unchanged'),
    createReadRow(page, { sizes, toPaths: listBurstPaths, isCold: false }),
    createReadRow(page, { sizes, toPaths: listBurstPaths, isCold: true }),
    createReadRow('serverGroups alone', { sizes, toPaths: toList, isCold: true }),
  ];
}

function take(sizes: SampleCounts, sample: (index: number) => Promise<number>): Promise<Measured> {
  const server = { readFigures: undefined };
  return takeSamples({ ...sizes, server, alone: createConcurrencyLimit(1), sample });
}
