import { guardBus } from '#tasks/guarded-services.ts';
import type { BusClient } from '../aws/event-bus.ts';
import type { EventBus } from '../ports/event-bus.ts';
import { type ClientUse, finishClient, toClientOptions } from './aws-clients.ts';
import { openBase } from './base.ts';
import type { Services } from './services.ts';

/** The installation's bus, behind a circuit breaker. The first event loads its client: most functions publish none. */
export function openLateBus(services: Services): EventBus {
  return services.get(createGuardedBus);
}

function createGuardedBus(services: Services): EventBus {
  return guardBus(createLateBus(services), openBase(services).clock);
}

function createLateBus(services: Services): EventBus {
  let opening: Promise<EventBus> | undefined;
  return {
    async publish(events) {
      opening ??= openBus(services);
      await (await opening).publish(events);
    },
  };
}

async function openBus(services: Services): Promise<EventBus> {
  const { config, clock, randomness } = openBase(services);
  const { createBusClient, createEventBus } = await import('../aws/event-bus.ts');
  const open = (): BusClient => {
    const use: ClientUse = { service: 'eventbridge', kind: 'bus' };
    const client = finishClient(createBusClient(toClientOptions(services, use)), use);
    services.closeLater(() => client.destroy());
    return client;
  };
  return createEventBus(services.direct.eventbridge ?? open(), config.busName, { clock, randomness });
}
