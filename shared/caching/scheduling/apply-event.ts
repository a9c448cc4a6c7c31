import { forEachConcurrently } from '#core/concurrency.ts';
import { within } from '#core/deadline.ts';
import { getErrorMessage } from '#core/errors.ts';
import type { AwsEvent } from './aws-event.ts';
import type { CachingAgent, FoundUpdate } from './caching-agent.ts';
import type { CachingAgentSystem } from './run-turns.ts';
import { sendMessages } from './send-caching-agents.ts';

/** Milliseconds that one caching agent has for what an event asks for. */
export const eventUpdateTimeoutMs = 60_000;

/** Caching agents that apply one event at a time. */
const concurrency = 8;

/** Which caching agents an event may concern, and for how long they may work. */
export interface ApplyEventOptions {
  readonly agents: readonly CachingAgent[];
  /** Aborted when the worker's time is over. */
  readonly stop: AbortSignal;
}

/**
 * Brings into the cache what an event says has changed, without a run. What fails is left to a run of the caching agent, which is sent for
 * at once. An event that concerns no caching agent is ignored. Never rejects.
 */
export async function applyEvent(
  system: CachingAgentSystem,
  event: AwsEvent,
  { agents, stop }: ApplyEventOptions,
): Promise<void> {
  const concerned = agents.flatMap((agent) => {
    const update = agent.findUpdate?.(event);
    return update === undefined ? [] : [{ agent, update }];
  });
  await forEachConcurrently(concerned, concurrency, async ({ agent, update }) => {
    const key = { account: agent.account, agent: agent.name };
    try {
      await applyUpdate(system, { key, update, stop });
    } catch (error) {
      system.log.warn('an event is left to a run', { ...key, cause: getErrorMessage(error) });
      const { account, name } = agent;
      await sendMessages(system, [
        { agents: [{ account, name }], dueMs: system.clock.now(), isDemanded: true },
      ]);
    }
  });
}

async function applyUpdate(
  { cache, clock, log, bus }: CachingAgentSystem,
  { key, update, stop }: { readonly key: object; readonly update: FoundUpdate; readonly stop: AbortSignal },
): Promise<void> {
  const deadline = { ms: eventUpdateTimeoutMs, what: 'what an event asks for', signal: stop };
  const { changes, events } = await within(clock, deadline, (signal) => update({ cache, signal }));
  if (changes > 0) log.info('an event brought the cache up to date', { ...key, changes });
  if (events.length === 0) return;
  try {
    await bus.publish(events);
  } catch (error) {
    log.warn('events of agents could not be published', { ...key, cause: getErrorMessage(error) });
  }
}
