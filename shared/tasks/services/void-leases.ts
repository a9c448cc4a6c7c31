import { DynamoCachingAgentStore } from '#caching/aws/agents/caching-agent-store.ts';
import type { Logger } from '#core/logger.ts';
import { openDocuments, openTable } from '#platform/services/aws-clients.ts';
import { openBase } from '#platform/services/base.ts';
import type { Services } from '#platform/services/services.ts';
import { voidTaskLeases } from '../aws/void-leases.ts';

/**
 * Ends the leases of workers in an installation's tables, for a process that knows that no worker lives, since it holds the data
 * directory's lock. Call it before the first worker begins. Never rejects: leases that cannot be ended lapse.
 */
export async function voidLeases(services: Services, log: Logger): Promise<void> {
  try {
    const { config, clock, randomness } = openBase(services);
    const agents = new DynamoCachingAgentStore({
      documents: openDocuments(services, 'work'),
      tableName: config.cacheTable,
      clock,
      randomness,
    });
    await Promise.all([voidTaskLeases(openTable(services, 'tasks', 'work')), agents.voidLeases()]);
  } catch (error) {
    log.warn('leases of the process before could not be ended: they lapse within a minute', { error });
  }
}
