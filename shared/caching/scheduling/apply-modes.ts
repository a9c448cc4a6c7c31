import { mapConcurrently } from '#core/concurrency.ts';
import type { Logger } from '#core/logger.ts';
import type { CachingAgentStore, StoredCachingAgent } from './caching-agent-store.ts';
import { type ConfiguredCachingAgent, chooseModes, type ModeChoice } from './choose-modes.ts';

/** What putting caching agents into modes needs. */
export interface ModeSystem {
  readonly agents: Pick<CachingAgentStore, 'setMode'>;
  readonly log: Logger;
}

/** Writes at a time. */
const concurrency = 16;

/**
 * Puts caching agents into the modes chosen for them. One that another process changed meanwhile is returned unchanged: the next turn
 * handles it.
 *
 * @param nowMs wall time, milliseconds
 * @returns the caching agents with their modes after this.
 */
export function applyModes(
  system: ModeSystem,
  agents: readonly ConfiguredCachingAgent[],
  nowMs: number,
): Promise<readonly StoredCachingAgent[]> {
  return mapConcurrently(chooseModes(agents, nowMs), concurrency, ({ agent, choice }) =>
    applyMode(system, agent, choice),
  );
}

async function applyMode(
  { agents, log }: ModeSystem,
  agent: StoredCachingAgent,
  choice: ModeChoice,
): Promise<StoredCachingAgent> {
  const { account, name, mode: before } = agent;
  if (before?.mode === choice.mode && before.reason === choice.reason) return agent;
  const changed = await agents.setMode(agent, choice);
  if (changed !== undefined && before !== undefined && before.mode !== choice.mode)
    log.info('the mode of an agent has changed', { account, agent: name, ...choice });
  return changed ?? agent;
}
