import type { DeadLetterReason } from '#core/metrics.ts';
import { type CachingAgentKey, type StoredCachingAgent, toCachingAgentId } from './caching-agent-store.ts';
import { toCachingAgentView } from './caching-agent-view.ts';

/**
 * Why a message for caching agents became a dead letter: the worst reason of any of them.
 *
 * @param agents what is stored of them; others are ignored. One that is unknown or removed needs nothing.
 */
export function findDeadMessageReason(
  agents: readonly StoredCachingAgent[],
  keys: readonly CachingAgentKey[],
  nowMs: number,
): DeadLetterReason {
  const named = new Set(keys.map(toCachingAgentId));
  const left = agents
    .filter((agent) => named.has(toCachingAgentId(agent)))
    .map((agent) => toCachingAgentView(agent, nowMs))
    .filter(({ state }) => state === 'waiting' || state === 'overdue');
  // A run that ends sets the attempts back to 0.
  if (left.some(({ attempts }) => attempts > 0)) return 'unended';
  return left.some(({ state }) => state === 'overdue') ? 'unbegun' : 'settled';
}
