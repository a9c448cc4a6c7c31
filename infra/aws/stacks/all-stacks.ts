import { type App, PERMISSIONS_BOUNDARY_CONTEXT_KEY, type Stack } from 'aws-cdk-lib';
import { type Queue, queues } from '#functions/queues.ts';
import { type Schedule, schedules } from '#functions/schedules.ts';
import { type Context, toResourceName } from '../context/context.ts';
import { readContext } from '../context/context-options.ts';
import type { Destination } from '../context/destination.ts';
import { AgentsStack } from './agents-stack.ts';
import { ApiStack } from './api-stack.ts';
import { BusStack } from './bus-stack.ts';
import { DashboardStack } from './dashboard-stack.ts';
import { DataStack } from './data-stack.ts';
import { NetworkStack } from './network-stack.ts';
import { WorkerStack } from './worker-stack.ts';

/**
 * Makes every stack that the tables of functions and the options in the app's context ask for.
 *
 * @param destination where the stacks go, as far as it is known
 * @throws ContextError
 */
export function createStacks(app: App, destination: Destination = {}): void {
  const context = readContext(app, destination);
  const { permissionsBoundaryArn: arn, vpcId } = context;
  if (arn !== undefined) app.node.setContext(PERMISSIONS_BOUNDARY_CONTEXT_KEY, { arn });
  const name = (stack: string): string => toResourceName(context, stack);
  const basis = [
    ...(vpcId === undefined ? [] : [new NetworkStack(app, name('network'), { context, vpcId })]),
    new DataStack(app, name('data'), { context }),
    new BusStack(app, name('bus'), { context }),
  ];
  // Before all that tells agents of work: it must know where they hear of it.
  const agents = context.agents ? [new AgentsStack(app, name('agents'), { context })] : [];
  const workers = createWorkerStacks(app, context);
  const api = new ApiStack(app, name('api'), { context });
  // By names and parameters they refer to each other, which CDK does not see.
  let before: Stack[] = basis;
  for (const stack of [...agents, ...workers, api]) {
    for (const one of before) stack.addStackDependency(one);
    before = [stack];
  }
  new DashboardStack(app, name('dashboard'), { context });
}

/** In this order: operations send messages for agents, agents none for operations. */
const workerStacks = [
  { name: 'caching', description: 'Busdriver: caching agents, their queue and their schedule' },
  { name: 'operations', description: 'Busdriver: queue of operations, its worker, sweeper of tasks' },
] as const;

/** Those that have a row. */
function createWorkerStacks(app: App, context: Context): WorkerStack[] {
  return workerStacks.flatMap(({ name, description }) => {
    const isPart = ({ stack = 'operations' }: Queue | Schedule): boolean => stack === name;
    const rows = { queues: queues.filter(isPart), schedules: schedules.filter(isPart) };
    if (rows.queues.length + rows.schedules.length === 0) return [];
    return [new WorkerStack(app, toResourceName(context, name), { description, ...rows, context })];
  });
}
