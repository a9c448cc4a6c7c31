import { cacheReader } from '#platform/aws/item-reader.ts';
import { ItemUpdate } from '#platform/aws/table.ts';
import { toKeyText } from '../store/cache-keys.ts';
import type { CacheParts } from '../store/cache-parts.ts';

/** Seconds for which a demand is kept: longer than any request waits, and than a worker lives. */
const retentionSeconds = 3_600;

/** Stores that an account is to be cached as of `wantedMs`. The worker that watches it reads this. */
export async function putDemand(
  { table, clock }: Pick<CacheParts, 'table' | 'clock'>,
  demand: { readonly watchedBy: string; readonly account: string; readonly wantedMs: number },
): Promise<void> {
  const { watchedBy, account, wantedMs } = demand;
  const expiresAt = Math.ceil(clock.now() / 1000) + retentionSeconds;
  // The later of two demands wins, as it asks for more. Where clocks differ, the waiting request asks again.
  const update = new ItemUpdate().set({ account, wantedMs, expiresAt });
  await table.update({ pk: getDemandPartition(watchedBy), sk: toKeyText(account) }, update);
}

/** What was demanded of a worker: as of when each account is to be cached. */
export async function listDemands(
  { table }: Pick<CacheParts, 'table' | 'clock'>,
  watchedBy: string,
): Promise<ReadonlyMap<string, number>> {
  const demands = new Map<string, number>();
  for await (const items of table.queryPages({ pk: getDemandPartition(watchedBy), consistent: false })) {
    for (const item of items)
      demands.set(cacheReader.getText(item, 'account'), cacheReader.getNumber(item, 'wantedMs'));
  }
  return demands;
}

/** Partition of the demands on a worker. Its prefix is that of caching agents: functions for views may update only such items. */
function getDemandPartition(watchedBy: string): string {
  return `AGENTS#DEMANDS#${toKeyText(watchedBy)}`;
}
