import type { JsonValue } from '#core/json.ts';
import type { RowPlace } from '../store/cache-store.ts';
import type { LiveEntry } from '../store/packed-row.ts';

/** What the engine must know of a provider's objects: their facts are what the cache keeps of them. */
export interface CacheModel<Facts> {
  /** The facts as text, the same for equal facts. */
  encode(facts: Facts): string;
  /** The facts of such a text; undefined for those of another version, which count as absent. */
  decode(text: string): Facts | undefined;
  /** What the platform calls a position, for messages: `resource version`. */
  readonly positionName: string;
  /** Whether positions are times of reads: an object that a later read finds unchanged then keeps its revision. Default: false. */
  readonly hasTimedPositions?: boolean;
  /** The kind whose objects are the account's locations: see `CacheStore.recordLocations`. Default: none is. */
  readonly locationKind?: string;
  /** Whether facts are kilobytes long: fewer of a list are then held in memory. Default: none are. */
  isLarge?(facts: Facts): boolean;
  /** The rows in which views find objects. Default: there are none. */
  readonly rows?: RowModel<Facts>;
}

/** How a provider's views find objects. */
export interface RowModel<Facts> {
  /** The views with rows of applications, in the order in which they are searched for the names of a cluster: smallest first. */
  readonly views: readonly string[];
  /** The application whose rows contain an object; undefined for none. */
  findApplication(facts: Facts): string | undefined;
  /** The entries of an object, whatever rules choose its application now. @param application undefined for an object without one */
  listEntries(facts: Facts, application: string | undefined): readonly EntryPlace[];
  /** The names of an object in the directory of its application. */
  getNames(facts: Facts): ObjectNames;
  /** Facts as the value of an entry. */
  toValue(facts: Facts): JsonValue;
  /** The names of the object that a row of an application is of; undefined if it has no such entry. */
  findNames(row: ReadonlyMap<string, LiveEntry>): ObjectNames | undefined;
}

/** The names that an object has in the directory. */
export interface ObjectNames {
  /** Undefined for an object that is in no cluster. */
  readonly cluster: string | undefined;
  readonly location: string;
}

/** An entry's row and key. */
export interface EntryPlace {
  readonly place: RowPlace;
  readonly view: string;
  readonly row: string;
  readonly key: string;
}
