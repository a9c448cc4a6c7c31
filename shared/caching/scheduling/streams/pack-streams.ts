import { isHeld, type StoredCachingAgent } from '../caching-agent-store.ts';
import { cachingAgentsPerStream, type StreamedCachingAgent } from './stream-queue.ts';

/** The worker that packs, and what it knows. */
export interface PackOptions {
  /** The owner whose caching agents are handed over. */
  readonly owner: string;
  /** Their number. */
  readonly ownCount: number;
  readonly nowMs: number;
  /** Whether a caching agent is to be watched, and not run. */
  isWatched(agent: StoredCachingAgent): boolean;
}

/**
 * Caching agents of other workers that a successor takes as well: those of the smallest workers, each worker's as a whole, as long as they
 * fit. So workers that were started for an account or two grow together with each hand-over. Of two workers the larger one takes the
 * other's, never the reverse. One that workers have died of stays alone.
 */
export function pickGuests(
  agents: readonly StoredCachingAgent[],
  options: PackOptions,
): readonly StreamedCachingAgent[] {
  const { owner, ownCount, nowMs, isWatched } = options;
  const others = agents.filter(
    (agent) => isHeld(agent, nowMs) && agent.lease?.owner !== owner && isWatched(agent),
  );
  const groups = [...Map.groupBy(others, (agent) => agent.lease?.owner ?? '')].sort(bySize);
  const guests: StreamedCachingAgent[] = [];
  for (const [handedOverBy, group] of groups) {
    const isSmaller = group.length < ownCount || (group.length === ownCount && handedOverBy < owner);
    const fits = ownCount + guests.length + group.length <= cachingAgentsPerStream;
    if (!isSmaller || !fits || group.some(({ attempts }) => attempts > 1)) continue;
    guests.push(...group.map(({ account, name }) => ({ account, name, handedOverBy })));
  }
  return guests;
}

type Group = readonly [owner: string, agents: readonly StoredCachingAgent[]];

function bySize([, one]: Group, [, other]: Group): number {
  return one.length - other.length;
}
