import type { CachingResult } from '../scheduling/caching-agent.ts';
import { describeName, getObjectName } from '../store/object-names.ts';
import type { ObjectChange } from '../writer/object-change.ts';
import { toApplicationName, toNamesOf } from '../writer/row-batch.ts';

/** The most names that a caching agent remembers: it stores them with each run. */
export const tooLargeNamesMax = 100;

/** The most characters kept of a name. */
const nameLengthMax = 200;

/** Names that are listed; further ones are counted. */
const toldMax = 10;

/**
 * Readable names of an account's objects that are too large to cache: see `WriteOutcome.dropped`. A caching agent remembers them from run
 * to run, until they are written or gone.
 */
export class TooLargeNames {
  readonly names: Set<string>;

  constructor(names: readonly string[] = []) {
    this.names = new Set(names);
  }

  /** Notes the outcome of writing changes. */
  recordWritten(changes: readonly ObjectChange[], dropped: readonly string[]): void {
    if (this.names.size > 0)
      for (const change of changes) this.names.delete(toKept(describeName(getObjectName(change))));
    for (const name of dropped) if (this.names.size < tooLargeNamesMax) this.names.add(toKept(name));
  }

  /** Forgets the objects of a kind, in one location if given: they are about to be listed again. */
  forgetKind(kind: string, location: string): void {
    for (const name of this.names) {
      if (!name.startsWith(`${kind} `)) continue;
      if (location === '' || name.endsWith(` in ${location}`)) this.names.delete(name);
    }
  }

  /** Forgets what was noted for an application: unused names have made room. */
  forgetApplication(application: string): void {
    this.names.delete(toKept(toApplicationName(application)));
    this.names.delete(toKept(toNamesOf(application)));
  }

  /** A caching agent's details with what is too large now, in place of what they said of it before. */
  addTo({ tooLarge: _, tooLargeCount: __, ...others }: Details = {}): Details {
    const count = this.names.size;
    if (count === 0) return others;
    const told = [...this.names].slice(0, toldMax).join(', ');
    const tooLarge = count > toldMax ? `${told} and ${count - toldMax} more` : told;
    return { ...others, tooLarge, tooLargeCount: count };
  }
}

type Details = NonNullable<CachingResult['details']>;

function toKept(name: string): string {
  return name.slice(0, nameLengthMax);
}
