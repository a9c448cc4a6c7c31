import { ItemTable } from '../../aws/table.ts';
import { createOperationQueue } from '../../aws/tasks/operation-queue.ts';
import { DynamoTaskStore } from '../../aws/tasks/task-store.ts';
import type { StoreClock } from '../../core/store-clock.ts';
import { guardQueue } from '../../core/tasks/guarded-services.ts';
import type { OperationQueue } from '../../core/tasks/operation-queue.ts';
import type { TaskSystem } from '../../core/tasks/process-message.ts';
import { type CallKind, openDocuments } from './aws-clients.ts';
import { type BaseServices, openBase } from './base.ts';
import { openHints } from './hints.ts';
import { openLateBus } from './late-bus.ts';
import type { Services } from './services.ts';
import { openSqs } from './sqs-client.ts';
import { openStoreClock } from './store-clock.ts';

/** What functions that deal with tasks work with. */
export interface TaskServices extends BaseServices, TaskSystem {}

/** What functions work with that deal with tasks while somebody waits for their answer. */
export function openTasks(services: Services): TaskServices {
  return services.get(createTasks, 'request');
}

/** The same for whoever runs tasks, and for whoever looks after them. */
export function openWorkTasks(services: Services): TaskServices {
  return services.get(createTasks, 'work');
}

function createTasks(services: Services, kind: CallKind): TaskServices {
  const base = openBase(services);
  const { config, clock, randomness } = base;
  const table = new ItemTable(openDocuments(services, kind), config.tasksTable);
  const storeClock = openStoreClock(services);
  return {
    ...base,
    store: new DynamoTaskStore({ table, clock, randomness, learnTime: () => learnTime(table, storeClock) }),
    queue: openQueue(services),
    bus: openLateBus(services),
    hints: openHints(services),
  };
}

/** One for the whole installation: what one function learns of the queue's absence holds for all. */
function openQueue(services: Services): OperationQueue {
  return services.get(createQueue);
}

function createQueue(services: Services): OperationQueue {
  const { config, clock } = openBase(services);
  return guardQueue(createOperationQueue(openSqs(services), config.operationsQueueUrl), clock);
}

/** Any answer tells the store's time. */
async function learnTime(table: ItemTable, clock: Pick<StoreClock, 'isSet'>): Promise<void> {
  if (!clock.isSet) await table.get({ pk: 'TIME', sk: 'TIME' });
}
