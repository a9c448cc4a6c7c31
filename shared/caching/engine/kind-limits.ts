import type { CacheStore } from '../store/cache-store.ts';
import type { ObjectChange } from '../writer/object-change.ts';
import { toName } from './scope-reader.ts';

/** The options of limiting a kind. */
export interface LimitTools {
  readonly account: string;
  readonly cache: Pick<CacheStore, 'listHeads'>;
  /** How many objects of a kind are cached; undefined for no limit. */
  findLimit(kind: string): number | undefined;
}

/**
 * Leaves out the new objects that exceed a kind's limit. Cached objects stay, and each that goes makes room for the next object that
 * changes.
 */
export async function limitChanges<Facts>(
  changes: readonly ObjectChange<Facts>[],
  tools: LimitTools,
): Promise<readonly ObjectChange<Facts>[]> {
  const limited = new Set(
    changes.map(({ kind }) => kind).filter((kind) => tools.findLimit(kind) !== undefined),
  );
  if (limited.size === 0) return changes;
  const kept = changes.filter(({ kind }) => !limited.has(kind));
  for (const kind of limited) {
    const ofKind = changes.filter((change) => change.kind === kind);
    for (const change of await limitKind(kind, ofKind, tools)) kept.push(change);
  }
  return kept;
}

async function limitKind<Facts>(
  kind: string,
  changes: readonly ObjectChange<Facts>[],
  { account, cache, findLimit }: LimitTools,
): Promise<ObjectChange<Facts>[]> {
  const cached = new Set<string>();
  for await (const page of cache.listHeads(account, kind)) {
    for (const { key } of page) cached.add(toName(key));
  }
  const gone = changes.filter(({ facts }) => facts === undefined);
  for (const change of gone) cached.delete(toName(change));
  const most = findLimit(kind) ?? Number.POSITIVE_INFINITY;
  const kept = changes.filter((change) => {
    const key = toName(change);
    if (change.facts === undefined || (cached.size >= most && !cached.has(key))) return false;
    cached.add(key);
    return true;
  });
  return [...gone, ...kept];
}
