import type { Hints } from '#agents/agent-connections.ts';
import { openHints } from '#agents/sessions/hints.ts';
import type { ItemTable } from '#platform/aws/table.ts';
import type { StoreClock } from '#platform/ports/store-clock.ts';
import { type CallKind, openTable } from '#platform/services/aws-clients.ts';
import { type BaseServices, openBase } from '#platform/services/base.ts';
import { openLateBus } from '#platform/services/late-bus.ts';
import { openMeter } from '#platform/services/meter.ts';
import type { Services } from '#platform/services/services.ts';
import { openSqs } from '#platform/services/sqs-client.ts';
import { openStoreClock } from '#platform/services/store-clock.ts';
import { createOperationQueue } from '../aws/operation-queue.ts';
import { DynamoTaskStore } from '../aws/task-store.ts';
import { guardQueue } from '../guarded-services.ts';
import type { OperationQueue } from '../operation-queue.ts';
import type { TaskSystem } from '../process-message.ts';

/** What functions use that deal with tasks. */
export interface TaskServices extends BaseServices, TaskSystem {
  /** Notifies agents of tasks, and of what else waits for them. */
  readonly hints?: Hints;
}

/** Opens what functions use that deal with tasks while a caller waits for their answer. */
export function openTasks(services: Services): TaskServices {
  return services.get(createTasks, 'request');
}

/** The same for functions that run tasks, or look after them. */
export function openWorkTasks(services: Services): TaskServices {
  return services.get(createTasks, 'work');
}

function createTasks(services: Services, kind: CallKind): TaskServices {
  const base = openBase(services);
  const { clock, randomness } = base;
  const { table } = openTable(services, 'tasks', kind);
  const storeClock = openStoreClock(services);
  return {
    ...base,
    store: new DynamoTaskStore({ table, clock, randomness, learnTime: () => learnTime(table, storeClock) }),
    queue: openQueue(services),
    bus: openLateBus(services),
    hints: openHints(services),
    meter: openMeter(services),
  };
}

/** One for the whole installation: when one function finds the queue unavailable, all know it. */
function openQueue(services: Services): OperationQueue {
  return services.get(createQueue);
}

function createQueue(services: Services): OperationQueue {
  const { config, clock } = openBase(services);
  return guardQueue(createOperationQueue(openSqs(services), config.operationsQueueUrl), clock);
}

/** Any answer has the store's time. */
async function learnTime(table: ItemTable, clock: Pick<StoreClock, 'isSet'>): Promise<void> {
  if (!clock.isSet) await table.get({ pk: 'TIME', sk: 'TIME' });
}
