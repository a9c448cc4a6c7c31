import type { AccountComparison } from '#contract/answers/credentials.ts';
import { ConflictError } from '#core/errors.ts';
import type { CacheStore } from '../store/cache-store.ts';
import { type DemandContext, sendDemands } from './demand-refresh.ts';

/** What a demand for a comparison needs. A cache context is one. */
export interface CompareContext extends DemandContext {
  readonly cache: Pick<CacheStore, 'requestComparison'>;
}

/**
 * Has all that is cached of an account compared with its cluster, as its caching agents do each hour: stores the request, and sends for the
 * caching agents. One that misses the message finds the request in its next turn.
 *
 * @throws ConflictError where there is nothing to compare; what the store throws
 */
export async function compareAccount(context: CompareContext, account: string): Promise<AccountComparison> {
  const { agents, cache, clock } = context;
  const requestedAt = clock.now();
  const cached = (await agents.readFreshness([account])).get(account);
  if (cached === undefined || !(await cache.requestComparison(account, requestedAt)))
    throw new ConflictError(
      `There is nothing to compare of account ${account}: it is not cached, or not yet, or each run reads all of it`,
    );
  await sendDemands(context, [cached], clock.now());
  return {
    account,
    requestedAt,
    agents: cached.agents.map(({ name }) => name),
    message:
      `What is cached of ${account} is compared with its cluster. That is over when 'details.compared' of each of these agents in ` +
      `GET /cache/introspection is ${new Date(requestedAt).toISOString()} or later`,
  };
}
