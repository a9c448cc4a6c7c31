import type { Clock } from '#core/clock.ts';
import type { Logger } from '#core/logger.ts';
import { CallPace } from '#platform/aws/lookups/call-pace.ts';
import { createLookupStore } from '#platform/aws/lookups/lookup-store.ts';
import { ItemTable } from '#platform/aws/table.ts';
import type { LookupStore } from '#platform/ports/lookup.ts';
import { SharedLookups } from '#platform/ports/shared-lookups.ts';
import type { LookupParts } from '#platform/services/lookup-store.ts';
import type { StoreEngine } from '#test/contracts/store-bench.ts';
import { testRandomness } from '../run/test-clock.ts';

const silentLog: Logger = { debug() {}, info() {}, warn() {}, error() {} };

/** What a process of ours shares lookups by, with a connection of its own. */
export function openLookups(engine: StoreEngine, clock: Clock, log: Logger = silentLog): LookupParts {
  const table = new ItemTable(engine.openDocuments(), engine.tableName);
  const store = createLookupStore({ table, clock });
  const lookups = new SharedLookups({ store, clock, randomness: testRandomness, log });
  return { store, lookups, pace: new CallPace({ table, clock }) };
}

/** A store that cannot be reached. */
export const awayStore: LookupStore = {
  find: () => Promise.reject(new Error('away')),
  replace: () => Promise.reject(new Error('away')),
};
