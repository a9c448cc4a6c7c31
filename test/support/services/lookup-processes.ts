import { CallPace } from '../../../shared/aws/cache/call-pace.ts';
import { DynamoLookupStore } from '../../../shared/aws/cache/lookup-store.ts';
import { ItemTable } from '../../../shared/aws/table.ts';
import type { Clock } from '../../../shared/core/clock.ts';
import type { LookupStore } from '../../../shared/core/lookup.ts';
import type { StoreEngine } from '../../contracts/store-bench.ts';

/** What a process of ours shares lookups by, with a connection of its own. */
export function openLookups(engine: StoreEngine, clock: Clock): { store: LookupStore; pace: CallPace } {
  const table = new ItemTable(engine.openDocuments(), engine.tableName);
  return { store: new DynamoLookupStore({ table, clock }), pace: new CallPace({ table, clock }) };
}

/** A store that cannot be reached. */
export const awayStore: LookupStore = {
  find: () => Promise.reject(new Error('away')),
  replace: () => Promise.reject(new Error('away')),
};
