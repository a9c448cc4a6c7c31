import type { CachingResult } from '#caching/scheduling/caching-agent.ts';
import type { ObjectChange } from '../cache-writer/object-change.ts';
import { toApplicationName, toFullName, toNamesOf } from '../cache-writer/row-batch.ts';
import { getRowName } from '../rows/row-names.ts';

/** Names that an agent remembers at most: it stores them with each of its runs. */
export const tooLargeNamesMax = 100;

/** Characters that are kept of a name. */
const nameLengthMax = 200;

/** Names that are told one by one. */
const toldMax = 10;

/**
 * What of an account is too large to be cached, in words for people: see `WriteOutcome.dropped`. An agent remembers it from run to
 * run, until that is written, or gone.
 */
export class TooLargeNames {
  readonly names: Set<string>;

  constructor(names: readonly string[] = []) {
    this.names = new Set(names);
  }

  /** Notes what came of writing changes. */
  recordWritten(changes: readonly ObjectChange[], dropped: readonly string[]): void {
    if (this.names.size > 0)
      for (const change of changes) this.names.delete(toKept(toFullName(getRowName(change))));
    for (const name of dropped) if (this.names.size < tooLargeNamesMax) this.names.add(toKept(name));
  }

  /** Forgets the objects of a kind, of one namespace where it is given: they are about to be listed anew. */
  forgetKind(kind: string, namespace: string): void {
    for (const name of this.names) {
      if (!name.startsWith(`${kind} `)) continue;
      if (namespace === '' || name.endsWith(` in ${namespace}`)) this.names.delete(name);
    }
  }

  /** Forgets what was said of an application: names that were not used any more have made room. */
  forgetApplication(application: string): void {
    this.names.delete(toKept(toApplicationName(application)));
    this.names.delete(toKept(toNamesOf(application)));
  }

  /** Details of an agent with what is too large, and without what they told of that before. */
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
