import { cacheReader, unlessMalformed } from '#platform/aws/item-reader.ts';
import type { Item, TimedTable } from '#platform/aws/table.ts';
import { healthPartition } from '#platform/aws/tables.ts';
import type { AccountHealth, AccountHealthStore } from '../model/account-health.ts';

/** Health that is no longer written is forgotten after a week. */
const retentionSeconds = 7 * 24 * 3600;

/**
 * The health of accounts, in one partition of the cache's table: an item of some 300 bytes each, so that all of a thousand accounts are one
 * query. Callers need GetItem and PutItem on that partition, and Query for `list`.
 */
export function createHealthStore({ table, clock }: TimedTable): AccountHealthStore {
  return {
    async find(account: string): Promise<AccountHealth | undefined> {
      const key = { pk: healthPartition, sk: account };
      const item = await table.get(key, { consistent: false });
      if (item === undefined || isExpired(item)) return undefined;
      return unlessMalformed(() => toHealth(item));
    },
    async list(): Promise<ReadonlyMap<string, AccountHealth>> {
      const items = await table.query(healthPartition);
      const live = items.filter((item) => !isExpired(item));
      // The next call for an account overwrites what cannot be read.
      const found = live.map((item) =>
        unlessMalformed(() => [cacheReader.getText(item, 'sk'), toHealth(item)] as const),
      );
      return new Map(found.filter((each) => each !== undefined));
    },
    async put(account: string, health: AccountHealth): Promise<void> {
      const expiresAt = Math.floor(clock.now() / 1000) + retentionSeconds;
      await table.put({ pk: healthPartition, sk: account, ...health, expiresAt });
    },
  };

  function isExpired(item: Item): boolean {
    return Number(item['expiresAt']) * 1000 <= clock.now();
  }
}

function toHealth(item: Item): AccountHealth {
  cacheReader.checkForm(item);
  const reason = cacheReader.findText(item, 'reason');
  const warning = cacheReader.findText(item, 'warning');
  const lastSuccessMs = cacheReader.findNumber(item, 'lastSuccessMs');
  return {
    state: toOneOf(['UP', 'DEGRADED', 'DOWN'], item['state']) ?? 'DEGRADED',
    ...(reason !== undefined && { reason }),
    sinceMs: cacheReader.getNumber(item, 'sinceMs'),
    checkedAtMs: cacheReader.getNumber(item, 'checkedAtMs'),
    ...(lastSuccessMs !== undefined && { lastSuccessMs }),
    breaker: toOneOf(['closed', 'open', 'half-open'], item['breaker']) ?? 'closed',
    ...(warning !== undefined && { warning }),
  };
}

function toOneOf<T>(values: readonly T[], value: unknown): T | undefined {
  return values.find((each) => each === value);
}
