import { toKeyText } from '#caching/aws/store/cache-keys.ts';
import { clockErrorMsMax } from '#core/clock.ts';
import type { Lookup, LookupChange, LookupKey, LookupStore } from '../../ports/lookup.ts';
import { lookupPauseMsMax } from '../../ports/shared-lookups.ts';
import type { Item, ItemKey, TimedTable } from '../table.ts';
import { lookupPartitions } from '../tables.ts';

/** A lookup that is not asked for again is forgotten after a week. */
const retentionSeconds = 7 * 24 * 3600;

/**
 * Lookups in the cache's table, each an item in its own partition of at most 20 KB, mostly 2 KB: reading one costs half a read unit.
 * Callers need GetItem and PutItem on these partitions.
 */
export function createLookupStore({ table, clock }: TimedTable): LookupStore {
  return {
    async find(key: LookupKey): Promise<Lookup | undefined> {
      const item = await table.get(toItemKey(key), { consistent: false });
      const now = clock.now();
      return item === undefined || Number(item['expiresAt']) * 1000 <= now ? undefined : toLookup(item, now);
    },
    async replace(key: LookupKey, { seen, next }: LookupChange): Promise<Lookup | undefined> {
      const seconds = Math.floor(clock.now() / 1000);
      const versionNumber = (seen?.versionNumber ?? 0) + 1;
      const expiresAt = seconds + retentionSeconds;
      const item = { ...toItemKey(key), ...next, revision: versionNumber, expiresAt };
      const isWritten =
        seen === undefined
          ? await table.putNew(item, seconds)
          : await table.putOver(item, 'revision', seen.versionNumber);
      return isWritten ? { ...next, versionNumber } : undefined;
    },
  };
}

function toItemKey([kind, ...parts]: LookupKey): ItemKey {
  return { pk: `${lookupPartitions}${toKeyText(kind, ...parts)}`, sk: 'LOOKUP' };
}

/** Ignores times from a process with a wrong clock: a time in the future would hold for as long. */
function toLookup(item: Item, now: number): Lookup {
  const { revision, value, asOfMs, notBeforeMs, state, reason, repeats } = item;
  return {
    versionNumber: Number(revision),
    value: value === undefined ? undefined : String(value),
    asOfMs: Number(asOfMs) > now + clockErrorMsMax ? 0 : Number(asOfMs),
    notBeforeMs: Number(notBeforeMs) > now + lookupPauseMsMax + clockErrorMsMax ? 0 : Number(notBeforeMs),
    state: toState(state),
    reason: String(reason),
    repeats: Number(repeats),
  };
}

function toState(state: unknown): Lookup['state'] {
  return state === 'asking' || state === 'busy' || state === 'refused' ? state : 'answered';
}
