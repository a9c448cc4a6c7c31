import type { Clock, Randomness } from '#core/clock.ts';
import type { DirectoryEntry, StoredRow } from '../../store/cache-store.ts';
import type { RowCodec } from '../../store/packed-row.ts';
import type { NameStore } from './cache-names.ts';
import type { CacheTable } from './cache-table.ts';
import type { RowMemory } from './row-memory.ts';
import type { UnreadableItems } from './unreadable-items.ts';

/** What the modules of the cache's store share. */
export interface CacheParts {
  readonly table: CacheTable;
  readonly clock: Clock;
  readonly randomness: Randomness;
  /** Kinds of accounts, and the directory of applications. */
  readonly names: NameStore;
  /** What this process has read of rows. */
  readonly rowMemory: RowMemory<readonly StoredRow[]>;
  /** What it has read of the directory. */
  readonly directoryMemory: RowMemory<DirectoryEntry>;
  readonly unreadable: UnreadableItems;
  /** How the rows of a view are written. */
  getCodec(view: string): RowCodec;
}
