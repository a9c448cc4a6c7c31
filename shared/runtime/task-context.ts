import { createOperationQueue } from '../aws/operation-queue.ts';
import { ItemTable } from '../aws/table.ts';
import { DynamoTaskStore } from '../aws/task-store.ts';
import type { TaskSystem } from '../core/process-hint.ts';
import { openDocuments } from './aws-clients.ts';
import { type BaseContext, openBaseContext } from './base-context.ts';
import { createLateBus } from './late-bus.ts';
import { openSqs } from './sqs-client.ts';

/** What functions that deal with tasks work with. */
export interface TaskContext extends BaseContext, TaskSystem {}

let opened: TaskContext | undefined;

/** The context of this process, made from its environment on first use and shared from then on. */
export function openTaskContext(): TaskContext {
  opened ??= createTaskContext(openBaseContext());
  return opened;
}

function createTaskContext(base: BaseContext): TaskContext {
  const { config, clock, randomness } = base;
  const table = new ItemTable(openDocuments(config), config.tasksTable);
  return {
    ...base,
    store: new DynamoTaskStore({ table, clock, randomness }),
    queue: createOperationQueue(openSqs(config), config.operationsQueueUrl),
    bus: createLateBus(config),
  };
}
