import { UnavailableError } from '#core/errors.ts';
import type { Logger } from '#core/logger.ts';
import type { EventMessage } from '#http/events/message-kinds.ts';
import type { QueueMessage } from '#http/events/queue-handler.ts';
import type { Config } from '#platform/config.ts';
import type { ProviderSet } from '#provider-kit/provider-set.ts';
import type { ProviderServices } from '#provider-kit/services/providers.ts';
import type { CachingAgentMessage } from '../scheduling/caching-agent-queue.ts';
import { toCachingAgentId } from '../scheduling/caching-agent-store.ts';
import { runTurns } from '../scheduling/run-turns.ts';
import { createScheduleMemory, scheduleTurns } from '../scheduling/schedule-turns.ts';
import { startStreams } from '../scheduling/streams/stream-queue.ts';
import type { CachingAgentServices } from '../services/caching-agents.ts';
import type { StreamServices } from '../services/streams.ts';

/**
 * Runs the caching agents of a message, or does what an event asks for, by the current settings. Without usable settings it gives up the
 * message: as soon as there are some, the scheduler sends for what is overdue.
 *
 * @param open opens the providers: a parameter of each function, since its grants follow from it
 */
export async function runCachingAgents(
  message: QueueMessage<CachingAgentMessage | EventMessage>,
  agents: CachingAgentServices,
  open: () => Promise<ProviderServices>,
): Promise<void> {
  const services = await open().catch((error: unknown) => giveUp(error, agents.log));
  if (services === undefined) return;
  const all = await services.providers.loadCachingAgents();
  if ('event' in message) {
    const { applyEvent } = await import('../scheduling/apply-event.ts');
    return applyEvent(agents, message.event, { agents: all, stop: message.stop });
  }
  const own = all.filter(({ isRemote }) => !isRemote);
  const known = new Map(own.map((agent) => [toCachingAgentId(agent), agent]));
  await runTurns(agents, message, {
    findAgent: (key) => known.get(toCachingAgentId(key)),
    stop: message.stop,
  });
}

/** One turn of the scheduler; none without usable settings, which say what is wanted. @param open opens the providers */
export async function scheduleCachingAgents(
  agents: StreamServices,
  open: () => Promise<ProviderServices>,
): Promise<void> {
  const services = await open().catch((error: unknown) => giveUp(error, agents.log));
  if (services === undefined) return;
  const { rejectedAccounts } = services.providers;
  const rejected = rejectedAccounts.map(({ name }) => name);
  agents.recordRejectedAccounts(countAccounts(services.providers));
  const memory = agents.all.get(createScheduleMemory);
  const areWorkersDead = areOthersDead(agents.config, memory.turns);
  const report = await scheduleTurns(agents, {
    wanted: await services.providers.loadCachingAgents(),
    rejected,
    memory,
    startWatching: (streamed) =>
      startStreams(agents.streams, streamed, { nowMs: agents.clock.now(), areWorkersDead }),
  });
  if (Object.values(report).some((count) => count > 0)) agents.log.info('scheduled agents', { ...report });
}

/**
 * Whether all other workers that watch caching agents are surely dead. On one machine a starting process is the only one. A replica has
 * others beside it, and so has a function.
 *
 * @param turns turns of the scheduler so far in this process
 */
export function areOthersDead(
  { placement, isReplicated }: Pick<Config, 'placement' | 'isReplicated'>,
  turns: number,
): boolean {
  return placement === 'local' && !isReplicated && turns === 0;
}

/** Numbers of rejected accounts, and of all. Sections that this release does not serve are no mistakes, and do not count. */
export function countAccounts({
  accounts,
  rejectedAccounts,
}: Pick<ProviderSet, 'accounts' | 'rejectedAccounts'>): { readonly rejected: number; readonly all: number } {
  const rejected = rejectedAccounts.filter(({ isUnserved }) => !isUnserved).length;
  return { rejected, all: accounts.length + rejected };
}

function giveUp(error: unknown, log: Logger): undefined {
  if (!(error instanceof UnavailableError)) throw error;
  log.warn('agents wait for settings that can be used', { reason: error.message });
}
