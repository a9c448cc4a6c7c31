import { guardBus } from '../../core/tasks/guarded-services.ts';
import type { EventBus } from '../../core/tasks/task-events.ts';
import { finishClient, toClientOptions } from './aws-clients.ts';
import type { BaseContext } from './base-context.ts';

let opened: EventBus | undefined;

/**
 * The bus of the configuration, one for the whole process, behind a breaker. It is opened, and its client loaded, with the first event:
 * most functions publish none.
 */
export function openLateBus(base: Pick<BaseContext, 'config' | 'clock' | 'randomness'>): EventBus {
  opened ??= guardBus(createLateBus(base), base.clock);
  return opened;
}

function createLateBus({
  config,
  ...waiting
}: Pick<BaseContext, 'config' | 'clock' | 'randomness'>): EventBus {
  let opening: Promise<EventBus> | undefined;
  const open = async (): Promise<EventBus> => {
    const { createBusClient, createEventBus } = await import('../../aws/event-bus.ts');
    const client = finishClient(createBusClient(toClientOptions(config, 'bus')), 'bus');
    return createEventBus(client, config.busName, waiting);
  };
  return {
    async publish(events) {
      opening ??= open();
      await (await opening).publish(events);
    },
  };
}
