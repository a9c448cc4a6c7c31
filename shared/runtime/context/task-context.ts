import { ItemTable } from '../../aws/table.ts';
import { createOperationQueue } from '../../aws/tasks/operation-queue.ts';
import { DynamoTaskStore } from '../../aws/tasks/task-store.ts';
import { guardQueue } from '../../core/tasks/guarded-services.ts';
import type { OperationQueue } from '../../core/tasks/operation-queue.ts';
import type { TaskSystem } from '../../core/tasks/process-hint.ts';
import { type CallKind, openDocuments } from './aws-clients.ts';
import { type BaseContext, openBaseContext } from './base-context.ts';
import { openLateBus } from './late-bus.ts';
import { openSqs } from './sqs-client.ts';
import { storeClock } from './store-clock.ts';

/** What functions that deal with tasks work with. */
export interface TaskContext extends BaseContext, TaskSystem {}

const opened = new Map<CallKind, TaskContext>();

/** The context of this process for who waits for an answer, made from its environment on first use and shared from then on. */
export function openTaskContext(): TaskContext {
  return openContext('request');
}

/** The same for who runs tasks, and for who looks after them. */
export function openTaskWorkContext(): TaskContext {
  return openContext('work');
}

function openContext(kind: CallKind): TaskContext {
  const context = opened.get(kind) ?? createTaskContext(openBaseContext(), kind);
  opened.set(kind, context);
  return context;
}

function createTaskContext(base: BaseContext, kind: CallKind): TaskContext {
  const { config, clock, randomness } = base;
  const table = new ItemTable(openDocuments(config, kind), config.tasksTable);
  return {
    ...base,
    store: new DynamoTaskStore({ table, clock, randomness, learnTime: () => learnTime(table) }),
    queue: openQueue(base),
    bus: openLateBus(base),
  };
}

let queue: OperationQueue | undefined;

/** One for the whole process: what one function learns of the queue's absence holds for all. */
function openQueue({ config, clock }: BaseContext): OperationQueue {
  queue ??= guardQueue(createOperationQueue(openSqs(config), config.operationsQueueUrl), clock);
  return queue;
}

/** Any answer tells the store's time. */
async function learnTime(table: ItemTable): Promise<void> {
  if (!storeClock.isSet) await table.get({ pk: 'TIME', sk: 'TIME' });
}
