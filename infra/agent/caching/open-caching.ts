import type { Clock, Randomness } from '#core/clock.ts';
import { createConcurrencyLimit } from '#core/concurrency.ts';
import type { Logger } from '#core/logger.ts';
import type { GrantedAccounts } from '../config/granted-accounts.ts';
import type { SessionKeeper } from '../hub/agent-session.ts';
import type { ReturnPlace } from '../hub/return-place.ts';
import type { AgentMetrics } from '../status/agent-metrics.ts';
import { BatchSender } from './batch-sender.ts';
import { CacheCalls } from './cache-calls.ts';
import { CacheFollowers } from './cache-followers.ts';
import { RemoteAgentStore } from './remote-agent-store.ts';
import { openRemoteCache } from './remote-cache.ts';

/** Lists of clusters that are under way in this process at a time. */
const listsMax = 20;

/** Dependencies of caching. */
export interface CachingParts {
  /** Busdriver's clock. */
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly log: Logger;
  readonly session: Pick<SessionKeeper, 'call'>;
  /** Its clock measures the pauses between tries. */
  readonly place: Pick<ReturnPlace, 'clock'>;
  /** Shown as who keeps an account cached. */
  readonly agentId: string;
  readonly metrics: AgentMetrics;
}

/** Opens caching. Nothing is called before accounts are followed, or an operation writes. */
export function openCaching(parts: CachingParts) {
  const { clock, randomness, log, session, place, agentId, metrics } = parts;
  const calls = new CacheCalls({ session, clock: place.clock, randomness });
  const cache = openRemoteCache(calls);
  return {
    /** The cache for opening accounts, so that objects that operations write are cached, too. */
    access: {
      open: async () => cache,
      changeSender: new BatchSender({ calls, clock: place.clock, randomness, metrics }),
      limitLists: createConcurrencyLimit(listsMax),
    },
    /** Makes what keeps accounts cached. */
    createFollowers: (accounts: GrantedAccounts) =>
      new CacheFollowers({
        ...{ accounts, cache, clock, randomness, log },
        agents: new RemoteAgentStore({ calls, clock, metrics }),
        host: agentId,
      }),
  };
}
