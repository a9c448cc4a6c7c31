import type { Clock } from '#core/clock.ts';
import { CallPace } from '#platform/aws/lookups/call-pace.ts';
import { createLookupStore } from '#platform/aws/lookups/lookup-store.ts';
import { ItemTable } from '#platform/aws/table.ts';
import type { LookupStore } from '#platform/ports/lookup.ts';
import type { StoreEngine } from '#test/contracts/store-bench.ts';

/** What a process of ours shares lookups by, with a connection of its own. */
export function openLookups(engine: StoreEngine, clock: Clock): { store: LookupStore; pace: CallPace } {
  const table = new ItemTable(engine.openDocuments(), engine.tableName);
  return { store: createLookupStore({ table, clock }), pace: new CallPace({ table, clock }) };
}

/** A store that cannot be reached. */
export const awayStore: LookupStore = {
  find: () => Promise.reject(new Error('away')),
  replace: () => Promise.reject(new Error('away')),
};
