import type { EventBus } from '../core/task-events.ts';
import { toClientOptions } from './aws-clients.ts';
import type { Config } from './config.ts';

/** The bus of the configuration. It is opened, and its client loaded, with the first event: most functions publish none. */
export function createLateBus(config: Config): EventBus {
  let opening: Promise<EventBus> | undefined;
  const open = async (): Promise<EventBus> => {
    const { openEventBus } = await import('../aws/event-bus.ts');
    return openEventBus(toClientOptions(config), config.busName);
  };
  return {
    async publish(events) {
      opening ??= open();
      await (await opening).publish(events);
    },
  };
}
