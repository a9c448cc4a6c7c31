import { getRowName } from '../rows/row-names.ts';
import type { ObjectChange } from './object-change.ts';

/** The latest change of each object. */
export function toLastChanges(changes: readonly ObjectChange[]): Iterable<ObjectChange> {
  const last = new Map<string, ObjectChange>();
  for (const change of changes) {
    const known = last.get(getRowName(change));
    if (known === undefined || known.revision <= change.revision) last.set(getRowName(change), change);
  }
  return last.values();
}
