import { type App, PERMISSIONS_BOUNDARY_CONTEXT_KEY } from 'aws-cdk-lib';
import { type Queue, queues } from '../../functions/queues.ts';
import { type Schedule, schedules } from '../../functions/schedules.ts';
import { nameQueue, type Surroundings } from '../constructs/surroundings.ts';
import { type Context, toResourceName } from '../context.ts';
import { readContext } from '../context-options.ts';
import { ApiStack } from './api-stack.ts';
import { BusStack } from './bus-stack.ts';
import { DashboardStack } from './dashboard-stack.ts';
import { DataStack } from './data-stack.ts';
import { NetworkStack } from './network-stack.ts';
import { WorkerStack } from './worker-stack.ts';

/**
 * Makes every stack that the tables of functions and the options in the app's context ask for.
 *
 * @throws ContextError
 */
export function createStacks(app: App): void {
  const context = readContext(app);
  const { permissionsBoundaryArn: arn } = context;
  if (arn !== undefined) app.node.setContext(PERMISSIONS_BOUNDARY_CONTEXT_KEY, { arn });
  const network = createNetworkStack(app, context);
  const data = new DataStack(app, toResourceName(context, 'data'), { context });
  const { tables, key, configSecretArn, artifactsSecretArn } = data;
  const { bus } = new BusStack(app, toResourceName(context, 'bus'), { context });
  const shared = {
    ...{ context, network: network?.network, bus, queues: new Map() },
    ...{ tables, key, configSecretArn, artifactsSecretArn },
  };
  const surroundings = createWorkerStacks(app, shared);
  new ApiStack(app, toResourceName(context, 'api'), { surroundings, vpcEndpoint: network?.endpoint });
  new DashboardStack(app, toResourceName(context, 'dashboard'), { context });
}

function createNetworkStack(app: App, context: Context): NetworkStack | undefined {
  const { vpcId } = context;
  if (vpcId === undefined) return undefined;
  return new NetworkStack(app, toResourceName(context, 'network'), { context, vpcId });
}

/** In this order: operations send messages for agents, agents none for operations. */
const workerStacks = [
  { name: 'caching', description: 'Busdriver: caching agents, their queue and their schedule' },
  { name: 'operations', description: 'Busdriver: queue of operations, its worker, sweeper of tasks' },
] as const;

/** Those that have a row; the queues of each are there for those that follow, and before that only named. */
function createWorkerStacks(app: App, shared: Surroundings): Surroundings {
  const named = queues.map(({ name }) => [name, nameQueue(toResourceName(shared.context, name))] as const);
  let surroundings: Surroundings = { ...shared, queues: new Map(named) };
  for (const { name, description } of workerStacks) {
    const isPart = ({ stack = 'operations' }: Queue | Schedule): boolean => stack === name;
    const rows = { queues: queues.filter(isPart), schedules: schedules.filter(isPart) };
    if (rows.queues.length + rows.schedules.length === 0) continue;
    const id = toResourceName(shared.context, name);
    surroundings = new WorkerStack(app, id, { description, ...rows, surroundings }).surroundings;
  }
  return surroundings;
}
