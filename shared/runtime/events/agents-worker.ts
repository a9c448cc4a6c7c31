import type { AgentMessage } from '../../core/agents/agent-queue.ts';
import type { CachingAgent } from '../../core/agents/caching-agent.ts';
import { createScheduleMemory } from '../../core/agents/revive-agents.ts';
import { runAgents } from '../../core/agents/run-agents.ts';
import { scheduleAgents } from '../../core/agents/schedule-agents.ts';
import { startStreams } from '../../core/agents/streams/stream-queue.ts';
import { UnavailableError } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import type { ProviderSet } from '../../core/providers/provider-set.ts';
import type { AgentContext } from '../context/agent-context.ts';
import type { ProviderContext } from '../context/provider-context.ts';
import type { StreamContext } from '../context/stream-context.ts';
import type { QueueMessage } from './queue-handler.ts';

/** What this process sent for. */
const memory = createScheduleMemory();

/**
 * Runs the agents that a message names, with the providers that are in force. Without usable settings the message is given up:
 * the scheduler sends for what is overdue as soon as there are some.
 *
 * @param open opens the context with the providers: named by the function, as all that its grants follow from
 */
export async function runCachingAgents(
  message: QueueMessage<AgentMessage>,
  agents: AgentContext,
  open: () => Promise<ProviderContext>,
): Promise<void> {
  const context = await open().catch((error: unknown) => giveUp(error, agents.log));
  if (context === undefined) return;
  const known = new Map(listAgents(context.providers).map((agent) => [toId(agent), agent]));
  await runAgents(agents, message, { findAgent: (key) => known.get(toId(key)), stop: message.stop });
}

/**
 * One turn of the scheduler. Without usable settings nothing happens: what agents there should be is not known then.
 *
 * @param open opens the context with the providers
 */
export async function scheduleCachingAgents(
  agents: StreamContext,
  open: () => Promise<ProviderContext>,
): Promise<void> {
  const context = await open().catch((error: unknown) => giveUp(error, agents.log));
  if (context === undefined) return;
  const { accounts, rejectedAccounts } = context.providers;
  const rejected = rejectedAccounts.map(({ name }) => name);
  agents.recordRejectedAccounts({ rejected: rejected.length, all: accounts.length + rejected.length });
  const report = await scheduleAgents(agents, {
    wanted: listAgents(context.providers),
    rejected,
    memory,
    startFollowing: (unheld) => startStreams(agents.streams, unheld, agents.clock.now()),
  });
  if (Object.values(report).some((count) => count > 0)) agents.log.info('scheduled agents', { ...report });
}

/** The caching agents of all providers. */
export function listAgents({ providers }: ProviderSet): readonly CachingAgent[] {
  return providers.flatMap(({ cachingAgents = [] }) => cachingAgents);
}

/** Tells agents apart. */
export function toId({ account, name }: Pick<CachingAgent, 'account' | 'name'>): string {
  return JSON.stringify([account, name]);
}

function giveUp(error: unknown, log: Logger): undefined {
  if (!(error instanceof UnavailableError)) throw error;
  log.warn('agents wait for settings that can be used', { reason: error.message });
}
