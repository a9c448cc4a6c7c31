import type { Clock } from '#core/clock.ts';
import { cacheReader } from '#platform/aws/item-reader.ts';
import { ItemUpdate } from '#platform/aws/table.ts';
import { toKeyText } from '../store/cache-keys.ts';
import type { CacheTable } from '../store/cache-table.ts';

/** Seconds for which a demand is kept: longer than anybody waits, and than a worker lives. */
const retentionSeconds = 3_600;

/** What demands are stored with. */
export interface DemandParts {
  readonly table: CacheTable;
  readonly clock: Clock;
}

/** Stores that an account is to be cached as of `wantedMs`, for the worker that watches it to see. */
export async function putDemand(
  { table, clock }: DemandParts,
  demand: { readonly watchedBy: string; readonly account: string; readonly wantedMs: number },
): Promise<void> {
  const { watchedBy, account, wantedMs } = demand;
  const expiresAt = Math.ceil(clock.now() / 1000) + retentionSeconds;
  // Of two the later one holds: it demands more, but for a difference of clocks, and whoever waits asks again.
  const update = new ItemUpdate()
    .set('account', account)
    .set('wantedMs', wantedMs)
    .set('expiresAt', expiresAt);
  await table.update({ pk: getDemandPartition(watchedBy), sk: toKeyText(account) }, update);
}

/** What was demanded of a worker: as of when each account is to be cached. */
export async function listDemands(
  { table }: DemandParts,
  watchedBy: string,
): Promise<ReadonlyMap<string, number>> {
  const demands = new Map<string, number>();
  for await (const items of table.queryPages({ pk: getDemandPartition(watchedBy), consistent: false })) {
    for (const item of items)
      demands.set(cacheReader.getText(item, 'account'), cacheReader.getNumber(item, 'wantedMs'));
  }
  return demands;
}

/** Partition of the demands on a worker. It begins as those of agents do: functions of views may update these, and no others. */
function getDemandPartition(watchedBy: string): string {
  return `AGENTS#DEMANDS#${toKeyText(watchedBy)}`;
}
